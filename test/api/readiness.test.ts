// `/readyz` tells a load balancer whether this process can store webhooks, even if other parts are slow or down.
import { expect } from 'chai';
import { inTransaction } from '../../db/connections/pool.ts';
import { createClient, expectError } from '../support/api-client.ts';
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
      await until('all of these connections to wait', async () => {
        // On another connection: a transaction sees this view as it was at first.
        const { rows } = await testInstance.pool.query<{ waiting: number }>(
          `select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        // Others may wait too, for reasons of their own.
        return (rows[0]?.waiting ?? 0) >= SLOW_REQUESTS;
      });
      expect((await probe()).status).to.equal(200);
      return slow;
    });
    for (const answer of await Promise.all(answers)) expect(answer.status).to.equal(200);
  });

  it('needs a PostgreSQL that takes writes', async () => {
    const { rows } = await testInstance.pool.query<{ name: string }>('select current_database() as name');
    const name = rows[0]?.name ?? '';
    // A standby takes none either; an existing check is repeated on a new connection.
    const setReadOnly = async (value: 'on' | 'off') => {
      await inTransaction(testInstance.pool, async (db) => {
        await db.query('set transaction read write');
        await db.query(`alter database ${name} set default_transaction_read_only = ${value}`);
      });
      await testInstance.pool.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
    };
    await setReadOnly('on');
    await until('it to be noticed', async () => (await probe()).status === 503);
    expectError(await probe(), 503, 'NOT_READY', /^Not ready: the database does not accept writes$/);
    await setReadOnly('off');
    await until('it to be ready again', async () => (await probe()).status === 200);
  });
});
