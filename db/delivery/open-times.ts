// When open deliveries were made, among millions that have ended. There is no index for it, because it would make recording every
// attempt more expensive. The counts of the lists say exactly in which hours, and to which destinations, there are some
// (history_counts): counts and late changes are exact together. The uncounted part, about the last half hour, may hold some
// anywhere.
import { databaseTime } from '../clock.ts';
import { settledBefore } from '../history/lists/settle.ts';
import type { Queryable } from '../connections/pool.ts';
import { OPEN } from '../sql-rules.ts';

const HOUR_MS = 3_600_000;
const SLICE_MS = 600_000;

/** A range of time without its upper end, ms since 1970. */
export interface Span {
  from: number;
  /** Infinity: made by a process whose clock is ahead. */
  to: number;
}

export interface OpenTimes {
  /** The counted part, oldest first. */
  hours: (Span & { destinationId: string | null })[];
  /** Since then, in slices. */
  newest: Span[];
}

const hoursBy = (columns: string): string => `
select ${columns} from (
  select start, destination_id as "destinationId", total from history_counts
  where kind = 'delivery' and span = 'hour' and status in ${OPEN} and total <> 0 and ($1::text[] is null or destination_id = any($1))
  union all
  select date_bin('1 hour', id_time(id), 'epoch'), destination_id, change from history_changes
  where id like 'dlv%' and status in ${OPEN} and ($1::text[] is null or destination_id = any($1))
) open group by ${columns} having sum(total) > 0 order by ${columns}`;

const HOURS = hoursBy('start');
const HOURS_OF_DESTINATIONS = hoursBy('start, "destinationId"');

/** When there may be open deliveries. The destinations of the hours are null. */
export function openTimes(db: Queryable): Promise<OpenTimes> {
  return times(db, HOURS, null);
}

/** The same for each destination. @param destinationIds null: of all */
export function openTimesOfDestinations(db: Queryable, destinationIds: string[] | null): Promise<OpenTimes> {
  return times(db, HOURS_OF_DESTINATIONS, destinationIds);
}

async function times(db: Queryable, statement: string, destinationIds: string[] | null): Promise<OpenTimes> {
  // In this order: rows that are settled in between are read twice instead of missed.
  const settled = (await settledBefore(db)).getTime();
  const { rows } = await db.query<{ start: Date; destinationId?: string }>(statement, [destinationIds]);
  const now = Math.max(settled, await databaseTime(db));
  const hours = rows.map(({ start, destinationId = null }) => {
    const from = start.getTime();
    return { destinationId, from, to: Math.min(from + HOUR_MS, settled) };
  });
  return { hours, newest: [...slices({ from: settled, to: now }), { from: now, to: Number.POSITIVE_INFINITY }] };
}

/** Cuts a span, so that one statement reads no more than ten minutes; the future is one slice. */
export function slices({ from, to }: Span): Span[] {
  if (to === Number.POSITIVE_INFINITY) return [{ from, to }];
  const cut: Span[] = [];
  for (let at = from; at < to; at += SLICE_MS) cut.push({ from: at, to: Math.min(to, at + SLICE_MS) });
  return cut;
}
