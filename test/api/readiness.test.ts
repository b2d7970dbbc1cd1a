// `/readyz` tells a load balancer whether this process can store webhooks, even if other parts are slow or down.
import { expect } from 'chai';
import { inTransaction } from '../../db/connections/pool.ts';
import { createClient, expectError } from '../support/api-client.ts';
import { waitingForLocks } from '../support/database/row-lock.ts';
import { readOnlySwitch } from '../support/servers/read-only.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

// As many as look up keys have connections (core/config/database-connections.ts).
const SLOW_REQUESTS = 4;

describe('readiness', () => {
  const { testInstance } = useHookyard({});
  const probe = (path = '/readyz') => createClient(testInstance.api.url, null).request('GET', path);

  it('does not depend on the connections of the management API', async () => {
    const answers = await inTransaction(testInstance.pool, async (db) => {
      await db.query('lock table api_keys in access exclusive mode');
      const slow = Array.from({ length: SLOW_REQUESTS }, () => testInstance.client.request('GET', '/api/auth/me'));
      // Others may wait too, for reasons of their own.
      const waiting = () => waitingForLocks(testInstance.pool);
      await until('all of these connections to wait', async () => (await waiting()) >= SLOW_REQUESTS);
      expect((await probe()).status).to.equal(200);
      return slow;
    });
    for (const answer of await Promise.all(answers)) expect(answer.status).to.equal(200);
  });

  it('needs a PostgreSQL that takes writes', async () => {
    // A standby takes none either.
    const readOnly = readOnlySwitch(testInstance.databaseUrl);
    await readOnly.on();
    await until('it to be noticed', async () => (await probe()).status === 503);
    expectError(await probe(), 503, 'NOT_READY', /^Not ready: the database does not accept writes$/);
    await readOnly.off();
    await testInstance.pool.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    await until('it to be ready again', async () => (await probe()).status === 200);
  });
});
