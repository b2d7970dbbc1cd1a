// Counts of all that waits may take long, and share their connections with look-ups of keys: these continue meanwhile.
import { expect } from 'chai';
import { createClient } from '../support/api-client.ts';
import { inOpenTransaction } from '../support/database/row-lock.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const OPERATOR = 'operator_key_of_the_tests_0123456789';
// While one count waits already, another one gets to PostgreSQL within a few of them.
const REQUESTS = 60;

describe('Slow counts', () => {
  const settings = { HOOKYARD_DATABASE_CONNECTIONS: '8', HOOKYARD_OPERATOR_KEY: OPERATOR };
  const { testInstance } = useHookyard({ settings });

  const waiting = async (): Promise<number> => {
    const { rowCount } = await testInstance.pool.query(
      `select from pg_locks where not granted and relation = 'held_deliveries'::regclass`,
    );
    return rowCount ?? 0;
  };

  it('leave connections for the keys of requests, with the smallest budget', async () => {
    await inOpenTransaction(testInstance.pool, async (holder) => {
      await holder.query('lock table held_deliveries in access exclusive mode');
      await until('the count of the backlog to wait', async () => (await waiting()) === 1);
      const status = createClient(testInstance.api.url, OPERATOR).request('GET', '/api/status');
      for (let number = 0; number < REQUESTS; number += 1)
        expect((await testInstance.client.request('GET', '/api/auth/me')).status).to.equal(200);
      expect(await waiting()).to.be.at.most(1);
      expect((await status).body).to.include({ database: 'away' });
    });
    await until('the status to be read', async () => {
      const { body } = await createClient(testInstance.api.url, OPERATOR).request('GET', '/api/status');
      return body.database === 'ok';
    });
  });
});
