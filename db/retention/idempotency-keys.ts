// Removes idempotency keys of webhooks when their window has passed.
import type { Queryable } from '../connections/pool.ts';
import { Stride } from '../ranges.ts';

// Keys that one statement removes, at most.
const FORGETTING = new Stride(10_000);

// Keys that ingest is reusing at this moment are skipped: waiting for each other's keys would deadlock.
const FORGET = `
delete from idempotency_keys where (source_id, key_hash) in
  (select source_id, key_hash from idempotency_keys where expires_at < now() order by expires_at limit $1
   for update skip locked)`;

/** Removes one step of expired keys. @returns true when there may be more */
export function forgetIdempotencyKeys(db: Queryable): Promise<boolean> {
  return FORGETTING.step(async (size) => {
    const { rowCount } = await db.query(FORGET, [size]);
    return rowCount === size;
  });
}
