// Keeps an event locked, so that whatever changes it waits at a place that a test knows.
import type { Pool } from '../../db/connections/pool.ts';

export interface HeldEvent {
  /** Server processes that wait for it: no others, whatever else waits in the database. */
  waiting(): Promise<number[]>;
  /** Lets it go; does nothing when the connection was lost. */
  release(): Promise<void>;
}

export async function holdEvent(pool: Pool, eventId: string): Promise<HeldEvent> {
  const client = await pool.connect();
  let broken: Error | undefined;
  client.on('error', (error) => {
    broken = error;
  });
  await client.query('begin');
  const { rows } = await client.query<{ pid: number }>(
    'select pg_backend_pid() as pid from events where id = $1 for update',
    [eventId],
  );
  return {
    async waiting() {
      const found = await pool.query<{ pid: number }>(
        'select pid from pg_stat_activity where datname = current_database() and $1 = any(pg_blocking_pids(pid))',
        [rows[0]?.pid],
      );
      return found.rows.map(({ pid }) => pid);
    },
    async release() {
      if (!broken) await client.query('rollback');
      client.release(broken);
    },
  };
}
