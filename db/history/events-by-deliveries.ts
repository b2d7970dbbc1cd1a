// Events by where they were delivered. A delivery made with its event has an id of the same second or so, so these events are found
// in the order of the deliveries to a destination. The others (replays, failovers) are few, and have indexes (deliveries_apart_by_...).
import { idFloor, idTime } from '../../core/ids.ts';
import { CLOCK_SKEW_MS } from '../clock.ts';
import { bounds } from '../parameters.ts';
import type { Queryable } from '../connections/pool.ts';
import { findNewest } from './lists/newest.ts';
import { matches, Parameters, rangeOfSelection, rowMatches, rowsOf, type Selection } from './selection.ts';
import type { Step } from './search.ts';

/** The width of the eighth character of an id (core/ids.ts), ms. */
const SLOT_MS = 1024;
const FIRST_ROWS = 200;
const nextSlot = (ms: number): number => (Math.floor(ms / SLOT_MS) + 1) * SLOT_MS;
const slotEnd = (ms: number): number => Math.ceil(ms / SLOT_MS) * SLOT_MS;

/** Whether a delivery `r` was not made together with its event; the indexes deliveries_apart_by_... have these. */
const APART = 'substr(r.id, 5, 8) <> substr(r.event_id, 5, 8)';

/**
 * Goes through the events of a selection with `delivered`, newest first.
 * @param rows how many deliveries one step reads
 */
export async function* eventsByDeliveries(db: Queryable, selection: Selection, rows: number): AsyncGenerator<Step> {
  const { organizationId, where, delivered } = selection;
  const ofDeliveries = { organizationId, where: { ...delivered, source_id: where.source_id } };
  const { from: first, to: last } = rangeOfSelection(selection);
  let end = last;
  // The first step is small: mostly it has all that a part of a list needs.
  let most = Math.min(rows, FIRST_ROWS);
  while (end > first) {
    const before = end === Infinity ? undefined : idFloor('dlv', slotEnd(end));
    const range = { kind: 'delivery' as const, ...ofDeliveries, from: new Date(first - (first % SLOT_MS)), before };
    const ids = await findNewest(db, range, most);
    // The slot of the last one may have more.
    const reached = ids.length < most ? first : Math.max(first, nextSlot(idTime(ids.at(-1) ?? '')));
    const apart = await eventsApart(db, ofDeliveries, { from: reached, to: end }, most);
    const from = apart.length < most ? reached : idTime(apart.at(-1) ?? '') + 1;
    // More than fit into a step are of one slot.
    if (from >= end) most *= 4;
    else {
      const together = await eventsTogether(db, ids);
      const events = [...new Set([...together, ...apart])].filter((id) => id >= idFloor('evt', from));
      yield stepOf(db, selection, { from, to: end }, events);
      end = from;
      most = Math.min(rows, most * 4);
    }
  }
}

type OfDeliveries = Pick<Selection, 'organizationId' | 'where'>;

/** The newest events of a range with a delivery that was made apart from them. */
async function eventsApart(
  db: Queryable,
  ofDeliveries: OfDeliveries,
  { from, to }: { from: number; to: number },
  most: number,
): Promise<string[]> {
  const query = new Parameters();
  const high = to === Infinity ? 'evt_~' : idFloor('evt', to);
  const { rows } = await db.query<{ id: string }>(
    `select distinct r.event_id as id from deliveries r
     where ${APART} and ${matches(query, 'r', { kind: 'delivery', ...ofDeliveries })}
       and r.event_id >= ${query.add(idFloor('evt', from))} and r.event_id < ${query.add(high)}
       and r.id >= ${query.add(idFloor('dlv', Math.max(0, from - CLOCK_SKEW_MS)))}
     order by 1 desc limit ${query.add(most)}`,
    query.values,
  );
  return rows.map(({ id }) => id);
}

// Rows are looked up one by one, for the reason of `idsOf` in page.ts; and to plan `= any` takes long, because PostgreSQL looks for
// each of thousands of ids in every partition.
/** The events of deliveries that were made with them. */
async function eventsTogether(db: Queryable, deliveryIds: string[]): Promise<string[]> {
  const { ids, low, high } = bounds(deliveryIds);
  const { rows } = await db.query<{ id: string }>(
    `select x.id from unnest($1::text[]) as p(id) cross join lateral (
       select r.event_id as id from deliveries r
       where r.id = p.id collate "C" and r.id between $2 and $3 and not ${APART} offset 0
     ) x`,
    [ids, low, high],
  );
  return rows.map(({ id }) => id);
}

/** @param candidates events that the deliveries name */
function stepOf(db: Queryable, selection: Selection, range: { from: number; to: number }, candidates: string[]): Step {
  const matching = async (limit: number) => {
    if (candidates.length === 0) return [];
    const query = new Parameters();
    const { rows } = await db.query<{ id: string }>(
      `select x.id from unnest(${query.add(candidates)}::text[]) as p(id) cross join lateral (
         select r.id from ${rowsOf(selection)}
         where r.id = p.id collate "C" and ${rowMatches(query, selection, range)} offset 0
       ) x order by x.id desc limit ${query.add(limit)}`,
      query.values,
    );
    return rows.map(({ id }) => id);
  };
  return {
    from: range.from,
    newest: matching,
    async count({ first, end }) {
      const ids = await matching(candidates.length);
      return { ids: ids.slice(first, end), total: ids.length };
    },
  };
}
