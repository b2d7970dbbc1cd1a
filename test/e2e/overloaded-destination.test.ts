// How many attempts a destination gets at a time: by what it copes with.
import { createServer } from 'node:http';
import { listen } from '../support/servers/listen.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const TOGETHER = 30;

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
    const server = await startCounting(() => ({
      status: server.underWay > copesWith ? 503 : 200,
      afterMs: copesWith < TOGETHER ? 1000 : 300,
    }));
    try {
      // First attempts only, which the relay makes. As workflows, the attempts of one machine are not enough.
      const { source } = await records.pipe(server.url, {
        route: { circuitFailureThreshold: 10_000, lane: 'express' },
      });
      /** @returns how many of those that come together were under way at once */
      const most = async (): Promise<number> => {
        const before = server.seen.length;
        await Promise.all(Array.from({ length: TOGETHER }, () => records.accepted(source, '{}')));
        await until('all to arrive', () => server.seen.length === before + TOGETHER && server.underWay === 0);
        return Math.max(...server.seen.slice(before));
      };
      await until('many at a time', async () => (await most()) > 10);
      await until('fewer at a time', async () => (await most()) < 10);
      copesWith = 1000;
      await until('more at a time', async () => (await most()) > 10);
    } finally {
      await server.close();
    }
  });
});
