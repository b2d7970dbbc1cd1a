// A database that can be read and not written for a while, as after a failover to a standby: ingest says so. What becomes of attempts
// under way is in test/long/read-only-attempts.test.ts.
import { expect } from 'chai';
import { readOnlySwitch } from '../support/servers/read-only.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

describe('a database that takes no writes', function () {
  this.timeout(900_000);
  const { testInstance, records, line } = useHookyard({});
  before(async () => {
    await testInstance.onlyWorkers({}, {});
  });

  it('makes ingest answer 503 and readiness fail, while what is stored can be read', async () => {
    const { source } = await line([], {
      source: { idempotencyKey: { jsonPath: '$.n', windowSeconds: 60 } },
    });
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
});
