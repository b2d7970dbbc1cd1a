// How many attempts a destination gets at a time: by what it copes with.
import { createServer } from 'node:http';
import { onceMore } from '../support/records.ts';
import { listen } from '../support/servers/listen.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

/** A destination that notes how many requests are under way when one comes. */
async function startCounting(answer: () => { status: number; afterMs: number }) {
  const counts = { underWay: 0, seen: [] as number[] };
  const server = createServer((request, response) => {
    counts.underWay += 1;
    counts.seen.push(counts.underWay);
    const { status, afterMs } = answer();
    const end = () => {
      counts.underWay -= 1;
      response.writeHead(status).end();
    };
    request.resume().on('end', () => setTimeout(end, afterMs));
  });
  return Object.assign(counts, await listen(server));
}

describe('a destination', () => {
  const { records } = useHookyard();

  it('gets fewer attempts at a time when it says that it is overloaded, and more when it does not', async () => {
    let copesWith = 3;
    const server = await startCounting(() => ({ status: server.underWay > copesWith ? 503 : 200, afterMs: 300 }));
    try {
      // As workflows, the attempts of one machine are not enough.
      const { source } = await records.pipe(server.url, {
        destination: { retryPolicy: onceMore(20, 100) },
        route: { circuitFailureThreshold: 10_000, lane: 'express' },
      });
      const send = (count: number) => Promise.all(Array.from({ length: count }, () => records.accepted(source, '{}')));
      const sent = await send(20);
      await until('many to be refused', () => server.seen.some((underWay) => underWay > 10));
      await until('fewer at a time', () => server.seen.slice(-10).every((underWay) => underWay < 10));
      copesWith = 1000;
      const refused = server.seen.length;
      await until('more at a time', async () => {
        sent.push(...(await send(15)));
        return server.seen.slice(refused).some((underWay) => underWay > 10);
      });
      for (const eventId of sent) await records.deliveryWith('delivered', eventId);
    } finally {
      await server.close();
    }
  });
});
