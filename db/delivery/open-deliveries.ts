// Finds open deliveries among millions that have ended. No index knows them: it would make every recorded attempt dearer. The
// counts of the lists say exactly in which hours, and to which destinations, there are some (migration 0010); what is not counted
// yet, the last half hour or so, is read whole.
import { idFloor } from '../../core/ids.ts';
import { databaseTime } from '../clock.ts';
import { settledBefore } from '../history/settle.ts';
import type { Queryable } from '../pool.ts';
import { Stride } from '../ranges.ts';

const OPEN = `('pending', 'retrying', 'circuit_open')`;
const HOUR_MS = 3_600_000;
const TEN_MINUTES_MS = 600_000;
// Places that one statement reads, and of how much time: among a million that have ended, one open delivery is far to read to.
const PLACES = 200;
const LOOKING = new Stride(PLACES * HOUR_MS);

/** Where there may be open deliveries: of a destination (null: of any), made in a range of time without its upper end, ms. */
interface Place {
  destinationId: string | null;
  from: number;
  to: number;
}

const OPEN_HOURS = `
select start, destination_id as "destinationId" from (
  select start, destination_id, total from history_counts
  where kind = 'delivery' and span = 'hour' and status in ${OPEN} and total <> 0 and ($1::text[] is null or destination_id = any($1))
  union all
  select date_bin('1 hour', id_time(id), 'epoch'), destination_id, change from history_changes
  where id like 'dlv%' and status in ${OPEN} and ($1::text[] is null or destination_id = any($1))
) open group by 1, 2 having sum(total) > 0 order by 1, 2`;

async function openPlaces(db: Queryable, destinationIds: string[] | null): Promise<Place[]> {
  // In this order: what is settled in between is read twice, and not left out.
  const settled = (await settledBefore(db)).getTime();
  const { rows } = await db.query<{ start: Date; destinationId: string }>(OPEN_HOURS, [destinationIds]);
  const hours = rows.map(({ start, destinationId }) => {
    const from = start.getTime();
    return { destinationId, from, to: Math.min(from + HOUR_MS, settled) };
  });
  const now = await databaseTime(db);
  const newest: Place[] = [];
  for (let from = settled; from < now; from += TEN_MINUTES_MS) {
    const to = Math.min(now, from + TEN_MINUTES_MS);
    for (const destinationId of destinationIds ?? [null]) newest.push({ destinationId, from, to });
  }
  // Those that were made by a process whose clock is ahead.
  for (const destinationId of destinationIds ?? [null]) newest.push({ destinationId, from: now, to: Infinity });
  return [...hours, ...newest];
}

/** Splits off the first places, of so much time in all. */
function cutPlaces(places: Place[], ms: number): { first: Place[]; rest: Place[] } {
  let left = ms;
  for (const [at, place] of places.entries()) {
    // There are few after now, however much time that is.
    const width = place.to === Infinity ? 0 : place.to - place.from;
    if (at === PLACES || left <= 0) return { first: places.slice(0, at), rest: places.slice(at) };
    if (width > left) {
      const middle = place.from + left;
      const first = [...places.slice(0, at), { ...place, to: middle }];
      return { first, rest: [{ ...place, from: middle }, ...places.slice(at + 1)] };
    }
    left -= width;
  }
  return { first: places, rest: [] };
}

// `offset 0` keeps the inner query as it is: one probe for each place, by the index that starts with the destination or by the
// primary key.
const OPEN_IN = (byDestination: boolean) => `
select x.* from unnest($1::text[], $2::text[], $3::text[]) as p(destination_id, low, high)
cross join lateral (
  select d.id, d.organization_id as "organizationId" from deliveries d
  where ${byDestination ? 'd.destination_id = p.destination_id collate "C" and' : ''} d.id >= p.low collate "C" and d.id < p.high collate "C"
    and d.id >= $4 and d.id < $5 and d.status in ${OPEN} and d.batch_id is null
    and ($6::text is null or d.event_id < $6) and exists (select from sources s where s.id = d.source_id)
  offset 0
) x limit $7`;

export interface OpenDelivery {
  id: string;
  organizationId: string;
}

/** Which open deliveries: those in a file that is being written, and those of a deleted source, are never among them. */
export interface OpenFilter {
  destinationIds?: string[];
  /** Only of events with smaller ids. */
  eventsBefore?: string;
}

/**
 * Finds open deliveries, in no order. The same are found again as long as they are open.
 * @param limit of one step
 * @returns steps, none of them empty; whoever ends what is in one is given the others
 */
export async function* findOpen(db: Queryable, filter: OpenFilter, limit: number): AsyncGenerator<OpenDelivery[]> {
  const places = await openPlaces(db, filter.destinationIds ?? null);
  for (const byDestination of [true, false]) {
    let left = places.filter(({ destinationId }) => (destinationId !== null) === byDestination);
    for (let known = new Set<string>(); left.length > 0; ) {
      const { found, rest } = await LOOKING.step(async (ms) => {
        const cut = cutPlaces(left, ms);
        return { found: await openIn(db, byDestination, cut.first, filter.eventsBefore, limit), rest: cut.rest };
      });
      const rows = found.filter(({ id }) => !known.has(id));
      if (rows.length > 0) yield rows;
      // Full of what is open still: nobody ends it, so there is no use in asking again.
      const hasMore = found.length === limit && rows.length > 0;
      known = hasMore ? new Set(found.map(({ id }) => id)) : new Set();
      if (!hasMore) left = rest;
    }
  }
}

async function openIn(
  db: Queryable,
  byDestination: boolean,
  places: Place[],
  eventsBefore: string | undefined,
  limit: number,
): Promise<OpenDelivery[]> {
  const lows = places.map(({ from }) => idFloor('dlv', from));
  const highs = places.map(({ to }) => (to === Infinity ? 'dlv_~' : idFloor('dlv', to)));
  const { rows } = await db.query<OpenDelivery>(OPEN_IN(byDestination), [
    places.map(({ destinationId }) => destinationId),
    lows,
    highs,
    lows.toSorted()[0],
    highs.toSorted().at(-1),
    eventsBefore ?? null,
    limit,
  ]);
  return rows;
}
