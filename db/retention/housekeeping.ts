// Counts failures of housekeeping by part, so that a part that fails repeatedly is noticed (docs/retention.md).
import { errorText } from '../../core/text/clean-text.ts';
import type { Queryable } from '../connections/pool.ts';

/** Counts a failure of a part. */
export async function countFailure(db: Queryable, part: string, error: unknown): Promise<void> {
  await db.query(
    `insert into upkeep as u (kind, part, total, last_at, last_error) values ('failure', $1, 1, now(), $2)
     on conflict (kind, part) do update set total = u.total + 1, last_at = excluded.last_at, last_error = excluded.last_error`,
    [part, errorText(String(error))],
  );
}
