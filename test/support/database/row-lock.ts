// Keeps rows locked, so that whatever changes them waits at a place that a test knows.
import type { PoolClient } from 'pg';
import type { Pool } from '../../../db/connections/pool.ts';
import { selectColumn } from './sql.ts';

export interface HeldRow {
  /** Server processes that wait for it: no others, whatever else waits in the database. */
  waiting(): Promise<number[]>;
  /** Lets it go; does nothing when the connection was lost. */
  release(): Promise<void>;
}

export const holdEvent = (pool: Pool, id: string): Promise<HeldRow> =>
  hold(pool, 'select pg_backend_pid() as pid from events where id = $1 for update', id);

/** Rows may refer to it meanwhile. */
export const holdOrganization = (pool: Pool, id: string): Promise<HeldRow> =>
  hold(pool, 'select pg_backend_pid() as pid from organizations where id = $1 for no key update', id);

/** Runs within a transaction that is rolled back afterwards, if the work has not ended it. */
export async function inOpenTransaction(pool: Pool, work: (db: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await work(client);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

/** Server processes that wait for another one. */
export function waitingFor(pool: Pool, pid: number | undefined): Promise<number[]> {
  return selectColumn<number>(pool)`select pid from pg_stat_activity where datname = current_database()
    and ${pid} = any(pg_blocking_pids(pid))`;
}

/** How many server processes of a database wait for any lock. */
export async function waitingForLocks(pool: Pool): Promise<number> {
  const { rowCount } = await pool.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rowCount ?? 0;
}

async function hold(pool: Pool, lock: string, id: string): Promise<HeldRow> {
  const client = await pool.connect();
  let broken: Error | undefined;
  client.on('error', (error) => {
    broken = error;
  });
  await client.query('begin');
  const { rows } = await client.query<{ pid: number }>(lock, [id]);
  return {
    waiting: () => waitingFor(pool, rows[0]?.pid),
    async release() {
      if (!broken) await client.query('rollback');
      client.release(broken);
    },
  };
}
