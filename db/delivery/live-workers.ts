// How many workers divide the limits of destinations.
import type { Queryable } from '../connections/pool.ts';

/**
 * Live workers, at least 1. Those that end count until what they have under way is done.
 * @param name of this worker, which counts before it has a lease
 */
export async function liveWorkers(db: Queryable, name: string): Promise<number> {
  // The owner of a lease is the name of its worker, and a number (worker/shards.ts).
  const { rows } = await db.query<{ workers: number }>(
    `select (count(*) + case when bool_or(starts_with(owner, $1 || ':')) then 0 else 1 end)::int as workers
     from relay_leases where expires_at > now()`,
    [name],
  );
  return rows[0]?.workers ?? 1;
}
