// Removes earlier versions of routes and transforms (earlier_versions) of which no delivery can be sent any more.
import type { Queryable } from '../connections/pool.ts';
import { DAY_MS } from './partitions.ts';

// Clocks of processes differ, by which they say when a webhook came.
const MARGIN_MS = DAY_MS;

/**
 * A delivery is made by the version that is the current one at that moment, or by that of the delivery that it repeats. So the event
 * of each was received before the version was replaced, and has no payload any more.
 * @param day the first whose payloads are kept, in days since 1970
 */
export async function forgetEarlierVersions(db: Queryable, day: number): Promise<void> {
  await db.query('delete from earlier_versions where replaced_at < $1', [new Date(day * DAY_MS - MARGIN_MS)]);
}
