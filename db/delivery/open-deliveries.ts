// Finds open deliveries among millions that have ended, in the times that open-times.ts names.
import { idFloor } from '../../core/ids.ts';
import type { Queryable } from '../connections/pool.ts';
import { Stride } from '../ranges.ts';
import { OPEN } from '../sql-rules.ts';
import { openTimesOfDestinations, type Span } from './open-times.ts';

const HOUR_MS = 3_600_000;
// Limits per statement, in places and in time: finding one open delivery among a million ended ones takes long.
const PLACES = 200;
const LOOKING = new Stride(PLACES * HOUR_MS);

/** Where there may be open deliveries. */
interface Place extends Span {
  /** Null: to any. */
  destinationId: string | null;
}

async function openPlaces(db: Queryable, destinationIds: string[] | null): Promise<Place[]> {
  const { hours, newest } = await openTimesOfDestinations(db, destinationIds);
  const anywhere = newest.flatMap((span) =>
    (destinationIds ?? [null]).map((destinationId) => ({ ...span, destinationId })),
  );
  return [...hours, ...anywhere];
}

/** Splits off the first places, up to this total time. */
function cutPlaces(places: Place[], ms: number): { first: Place[]; rest: Place[] } {
  let left = ms;
  for (const [at, place] of places.entries()) {
    // Ranges in the future hold few rows, so their length does not count.
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

/** Selects open deliveries; those in a file that is being written, and those of a deleted source, are excluded. */
export interface OpenFilter {
  destinationIds?: string[];
  /** Only of events with smaller ids. */
  eventsBefore?: string;
}

/**
 * Finds open deliveries, in no order. The same ones are found again while they are open.
 * @param limit of one step
 * @returns steps, none of them empty; ending the deliveries of one step makes the next ones visible
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
      // The step is still full of open deliveries: the caller does not end them, so another query is useless.
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
