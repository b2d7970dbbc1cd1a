import { expect } from 'chai';
import { onceMore } from '../support/records.ts';
import type { Endpoint } from '../support/receiver.ts';
import { DEAD_MS } from '../../db/hot-path/shards.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { readOnlySwitch } from '../support/servers/read-only.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { selectValue } from '../support/database/sql.ts';

const RECOVERY_MS = 180_000;
const SENDERS = 4;
const PAUSE_MS = 25;
// A destination that does not answer gets a few at a time.
const UNDER_WAY = 4;
const HELD = 20;

describe('a database that takes no writes', function () {
  this.timeout(900_000);
  const { testInstance, records, line } = useHookyard({});
  before(() => testInstance.onlyWorkers({}, {}));

  it('makes ingest answer 503 and readiness fail, while what is stored can be read', async () => {
    const { source } = await line([], { source: { idempotencyKey: { jsonPath: '$.n', windowSeconds: 60 } } });
    const { eventId } = (await records.post(source, '{"n":0}')).body;
    const database = readOnlySwitch(testInstance.databaseUrl);
    await database.on();
    try {
      // Connections from before were cut, which the first requests may meet.
      for (let n = 1; n <= 5; n += 1) {
        const answer = await records.post(source, JSON.stringify({ n }));
        expect(answer.status).to.equal(503);
        expect(Number(answer.headers['retry-after'])).to.be.above(0);
      }
      expect((await testInstance.client.request('GET', '/readyz')).status).to.equal(503);
      const { status } = await testInstance.client.request('POST', `${testInstance.base}/sources`, {
        name: 'Orders',
        slug: 'orders',
      });
      expect(status).to.equal(503);
      await until('events to be read', () => records.event(eventId));
    } finally {
      await database.off();
    }
    await until('ingest to accept', async () => (await records.post(source, '{"n":99}')).status === 200);
    await until('readiness', async () => (await testInstance.client.request('GET', '/readyz')).status === 200);
  });

  it('has no attempt sent twice, and everything delivered and recorded once afterwards', async () => {
    const gate = Promise.withResolvers<void>();
    const held = Array.from({ length: HELD }, (_, n) => ({ status: n % 2 === 0 ? 200 : 500, after: gate.promise }));
    const { ledger, endpoint } = await line([...held, {}], {
      destination: { retryPolicy: onceMore(5, 200) },
      route: { circuitFailureThreshold: 100 },
    });
    const database = readOnlySwitch(testInstance.databaseUrl);
    let sending = true;
    const senders = Array.from({ length: SENDERS }, async () => {
      for (; sending; await pause(PAUSE_MS)) await ledger.post();
    });
    try {
      await until('attempts under way', () => endpoint.requests.length >= UNDER_WAY);
      await database.on();
      gate.resolve();
      await until(
        'beats to stand still for so long that another worker could take the shards',
        () => selectValue<boolean>(testInstance.pool)`select bool_and(seen_at < now() - make_interval(secs =>
          ${(2 * DEAD_MS) / 1000})) as stands from workers`,
      );
    } finally {
      await database.off();
    }
    const before = ledger.acknowledged.size;
    await until('webhooks to be accepted again', () => ledger.acknowledged.size > before + SENDERS);
    sending = false;
    await Promise.all(senders);
    await ledger.settle(RECOVERY_MS);
    expect(sentTwice(endpoint)).to.deep.equal([]);
    for (const eventId of ledger.acknowledged.keys()) {
      const [delivery] = await records.deliveries(eventId);
      expect(delivery?.attempts.map(({ attemptNumber }) => attemptNumber)).to.deep.equal(
        Array.from({ length: ledger.arrivals(eventId) }, (_, n) => n + 1),
      );
      expect(await records.event(eventId)).to.include({ deliveriesSucceeded: 1, deliveriesFailed: 0 });
    }
  });
});

function sentTwice({ requests }: Endpoint): string[] {
  const attempts = requests.map(
    ({ headers }) => `${headers['x-hookyard-delivery-id']} ${headers['x-hookyard-attempt']}`,
  );
  return attempts.filter((attempt, index) => attempts.indexOf(attempt) !== index);
}
