// Workers as the database sees them, without processes.
import { SHARDS } from '../../../db/hot-path/shards.ts';
import type { Pool } from '../../../db/connections/pool.ts';
import type { Held } from '../../../worker/relay/shards.ts';
import { forgetWorkers } from '../rows.ts';

/** A worker that is alone. */
export async function aloneRelay(pool: Pool, owner: string): Promise<Held> {
  const [held] = await shareOut(pool, [owner]);
  return held ?? { owner, shards: [] };
}

/** Workers that share all shards. */
export async function shareOut(pool: Pool, owners: string[]): Promise<Held[]> {
  await forgetWorkers(pool);
  await addWorkers(pool, owners);
  await pool.query('update shards set owner = ($1::text[])[1 + shard % $2::int]', [owners, owners.length]);
  return owners.map((owner, index) => ({
    owner,
    shards: Array.from({ length: SHARDS }, (_, shard) => shard).filter((shard) => shard % owners.length === index),
  }));
}

/** Workers that own nothing. */
export async function addWorkers(pool: Pool, names: string[]): Promise<void> {
  await pool.query(`insert into workers (name) select unnest($1::text[])`, [names]);
}
