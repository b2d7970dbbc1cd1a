// The idempotency keys of webhooks: forgotten when their window has passed.
import type { Queryable } from '../pool.ts';
import { Stride } from '../ranges.ts';

// Keys that one statement removes, at most.
const FORGETTING = new Stride(10_000);

// One that ingest is taking again at this moment is left to it: waiting for each other's keys would be a deadlock.
const FORGET = `
delete from idempotency_keys where (source_id, key_hash) in
  (select source_id, key_hash from idempotency_keys where expires_at < now() order by expires_at limit $1
   for update skip locked)`;

/** Removes one step of the keys whose window has passed. @returns true when there may be more */
export function forgetIdempotencyKeys(db: Queryable): Promise<boolean> {
  return FORGETTING.step(async (size) => {
    const { rowCount } = await db.query(FORGET, [size]);
    return rowCount === size;
  });
}
