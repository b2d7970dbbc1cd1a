// Which rows are young: the hot path mostly changes new rows. Changes of these need not be recorded, because they are not settled
// before the grace period has passed (db/schema/07-counts.sql).
import { idFloor } from '../../../core/ids.ts';

/** Changes of rows of at least this age are recorded, ms. */
const LATE_AFTER_MS = 15 * 60_000;
/** How far a process's clock may be behind PostgreSQL's; if it is further behind, every change is recorded. */
const CLOCK_SKEW = '4 minutes';
/** Settling stays this far behind PostgreSQL's clock: late, and a clock that is behind, and a minute. */
export const GRACE_MS = LATE_AFTER_MS + 5 * 60_000;

/**
 * A CTE `late` for a statement that changes events or deliveries; it holds one row, not null. The CTE with the changes must
 * depend on it, so that the setting is made before the first row is changed. It lasts until the end of the transaction.
 * @param bound the `$n` of the first value of `lateBound`
 * @param at the `$n` of the second
 */
export function settingLate(bound: string, at: string): string {
  return `late as (
  select set_config('hookyard.late_before',
                    case when ${at}::timestamptz > clock_timestamp() - interval '${CLOCK_SKEW}' then ${bound}::text else '~' end, true) as bound
)`;
}

/** The values of a statement with `settingLate`: from which id time on a row is young, and by which clock. */
export function lateBound(nowMs: number = Date.now()): [bound: string, at: Date] {
  return [idFloor('evt', nowMs - LATE_AFTER_MS).slice('evt_'.length), new Date(nowMs)];
}
