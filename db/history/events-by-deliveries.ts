// Events by where they were delivered. A delivery made with its event has an id of the same second or so, so these events are found
// in the order of the deliveries to a destination. The others (replays, failovers) are few, and have indexes (deliveries_apart_by_...).
import { idFloor, idTime } from '../../core/text/ids.ts';
import { CLOCK_SKEW_MS } from '../clock.ts';
import type { Queryable } from '../connections/pool.ts';
import { newestRange, prepare, type RowRange } from './lists/indexed.ts';
import { matches, Parameters, type Range, rangeOfSelection, rowMatches, rowsOf, type Selection } from './selection.ts';
import { FIRST_ROWS, type Step } from './search.ts';

/** The width of the eighth character of an id (core/text/ids.ts), ms. */
const SLOT_MS = 1024;
const slotEnd = (ms: number): number => Math.ceil(ms / SLOT_MS) * SLOT_MS;

/** Whether a delivery `r` was not made together with its event; the indexes deliveries_apart_by_... have these. */
const APART = 'substr(r.id, 5, 8) <> substr(r.event_id, 5, 8)';

/** The deliveries that are gone through for the events of a selection with `delivered`. */
export const deliveriesOf = ({ organizationId, where, delivered, from, to }: Selection): Selection => ({
  kind: 'delivery',
  organizationId,
  from,
  to,
  where: { ...delivered, source_id: where.source_id },
});

/**
 * Goes through the events of a selection with `delivered`, newest first.
 * @param rows how many deliveries one step reads
 */
export async function* eventsByDeliveries(db: Queryable, selection: Selection, rows: number): AsyncGenerator<Step> {
  const deliveries = deliveriesOf(selection);
  const { from: first, to: last } = rangeOfSelection(selection);
  let end = (await prepare(db, deliveries)).isOwn ? last : first;
  // The first step is small: mostly it has all that a part of a list needs.
  let most = Math.min(rows, FIRST_ROWS);
  while (end > first) {
    const around = { from: first - (first % SLOT_MS), to: slotEnd(end) };
    // Whole slots: what was made together with an event of a slot is in the same one.
    const range = await newestRange(db, deliveries, around, most, SLOT_MS);
    const reached = Math.max(first, range.from);
    const apart = await eventsApart(db, deliveries, { from: reached, to: end }, most);
    const from = apart.length < most ? reached : Math.max(reached, idTime(apart.at(-1) ?? '') + 1);
    // More than fit into a step are of one millisecond.
    if (from >= end) most *= 4;
    else {
      const together = await eventsTogether(db, deliveries, range);
      const events = [...new Set([...together, ...apart])].filter((id) => id >= idFloor('evt', from));
      yield stepAmong(db, selection, { from, to: end, rows: range.rows }, events);
      end = from;
      most = Math.min(rows, most * 4);
    }
  }
}

/** The newest events of a range with a delivery that was made apart from them. */
async function eventsApart(db: Queryable, deliveries: Selection, { from, to }: Range, most: number): Promise<string[]> {
  const query = new Parameters();
  const high = to === Infinity ? 'evt_~' : idFloor('evt', to);
  const { rows } = await db.query<{ id: string }>(
    `select distinct r.event_id as id from deliveries r
     where ${APART} and ${matches(query, deliveries)}
       and r.event_id >= ${query.add(idFloor('evt', from))} and r.event_id < ${query.add(high)}
       and r.id >= ${query.add(idFloor('dlv', Math.max(0, from - CLOCK_SKEW_MS)))}
     order by 1 desc limit ${query.add(most)}`,
    query.values,
  );
  return rows.map(({ id }) => id);
}

/** The events of deliveries that were made with them in a range. */
async function eventsTogether(db: Queryable, deliveries: Selection, range: Range): Promise<string[]> {
  const query = new Parameters();
  const { rows } = await db.query<{ id: string }>(
    `select r.event_id as id from deliveries r where ${rowMatches(query, deliveries, range)} and not ${APART}`,
    query.values,
  );
  return rows.map(({ id }) => id);
}

// Rows are looked up one by one: `offset 0` keeps the inner query as it is, which PostgreSQL would else join by reading the range.
/** A step that finds what matches among some ids. @param range in which they were made */
export function stepAmong(db: Queryable, selection: Selection, range: RowRange, candidates: string[]): Step {
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
    rows: range.rows,
    newest: matching,
    async count({ first, end }) {
      const ids = await matching(candidates.length);
      return { ids: ids.slice(first, end), total: ids.length };
    },
  };
}
