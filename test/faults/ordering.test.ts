// Ordering when workers are killed: two APIs whose clocks are two hours apart take the webhooks of each key in turn.
import { expect } from 'chai';
import { onceMore } from '../support/records.ts';
import { send } from '../support/requests/http-client.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { ProcessClock } from '../support/workflows/clock.ts';

const HOUR_MS = 3_600_000;
const KEYS = 10;
const PER_KEY = 20;

describe('ordering under faults', function () {
  this.timeout(600_000);
  const { testInstance, records, receiver } = useHookyard({ workers: [{}, {}] });
  const clocks = [new ProcessClock(), new ProcessClock()];
  after(() => {
    for (const clock of clocks) clock.close();
  });

  it('overtakes nothing and loses nothing, whatever clocks and workers take part', async () => {
    const [ahead, behind] = await Promise.all(clocks.map((clock) => testInstance.startApi(clock.environment)));
    if (!ahead || !behind) throw new Error('two APIs were to start');
    await clocks[0]?.set(HOUR_MS, [ahead]);
    await clocks[1]?.set(-HOUR_MS, [behind]);
    const taken = Array.from({ length: KEYS }, () => 0);
    const overtaken: string[] = [];
    let requests = 0;
    const endpoint = receiver.endpoint(({ body }) => {
      const { key, n } = JSON.parse(body.toString()) as { key: number; n: number };
      if (n > (taken[key] ?? 0) + 1) overtaken.push(`${n} of key ${key} after ${taken[key]}`);
      requests += 1;
      // Now and then one is not accepted, and waits for its retry in a workflow.
      if (requests % 9 === 0) return { status: 503 };
      taken[key] = Math.max(taken[key] ?? 0, n);
      return {};
    });
    const destination = await records.destination(endpoint.url, { retryPolicy: onceMore(20, 50) });
    const source = await records.source();
    await records.route(source.id, [destination.id], { ordering: { key: 'payload.key' }, circuitFailureThreshold: 20 });
    const { pathname } = new URL(source.webhookUrl);
    const headers = { 'content-type': 'application/json' };
    const ofKey = async (key: number) => {
      const ids: string[] = [];
      for (let n = 1; n <= PER_KEY; n += 1) {
        const { url } = n % 2 === 0 ? ahead : behind;
        const answer = await send<{ eventId: string }>('POST', url + pathname, headers, JSON.stringify({ key, n }));
        expect(answer.status).to.equal(200);
        ids.push(answer.body.eventId);
        if (key === 0 && n % 8 === 0) {
          const [first] = testInstance.workers.splice(0, 1);
          await first?.kill();
          await testInstance.startWorker();
        }
      }
      return ids;
    };
    const accepted = await Promise.all(Array.from({ length: KEYS }, (_, key) => ofKey(key)));
    for (const id of accepted.flat()) await records.eventWith('delivered', id);
    expect(overtaken).to.deep.equal([]);
    expect(taken).to.deep.equal(Array.from({ length: KEYS }, () => PER_KEY));
  });
});
