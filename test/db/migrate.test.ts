// Migrations beside what runs: one that waits for a lock would keep every later statement on that table waiting.
import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { applyMigrations } from '../../db/schema/apply-migrations.ts';
import { newId } from '../../core/ids.ts';
import { createPool, inTransaction, type Pool } from '../../db/connections/pool.ts';
import { createDatabase, type CreatedDatabase } from '../support/own-database.ts';
import { until } from '../support/until.ts';

const NAMES = readdirSync(new URL('../../db/migrations', import.meta.url)).map((name) => name.replace('.sql', ''));
const LAST = '0027-batch-error-summaries';

describe('Migrations', () => {
  let database: CreatedDatabase;
  let pool: Pool;
  before(async () => {
    database = await createDatabase(`migrate_${newId('req').slice(-10)}`);
    await applyMigrations(
      database.databaseUrl,
      NAMES.filter((name) => name < LAST),
    );
    pool = createPool(database.databaseUrl, { max: 3, statementTimeoutMs: 20_000, onError: () => {} });
  });
  after(async () => {
    await pool.end();
    await database.drop();
  });

  it('give up on a lock that is held, so that others get theirs, and are applied when it is free', async () => {
    const waiting = async (pid: number | undefined) =>
      (await pool.query('select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))', [pid])).rowCount !== 0;
    let applied: Promise<string[]> | undefined;
    await inTransaction(pool, async (db) => {
      await db.query('select from warehouse_batches');
      const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
      applied = applyMigrations(database.databaseUrl);
      await until('the migration to wait for the lock', () => waiting(rows[0]?.pid));
      await until('the migration to give up', async () => !(await waiting(rows[0]?.pid)));
      await pool.query('select from warehouse_batches');
    });
    expect(await applied).to.include(LAST);
    expect(await applyMigrations(database.databaseUrl)).to.deep.equal([]);
    await pool.query('select error_summary from warehouse_batches');
  });
});
