import { isOpenStatus } from '../../core/delivery/delivery.ts';
import { boundTime, type IdPrefix, idFloor, idTime } from '../../core/text/ids.ts';
import type { Queryable } from '../connections/pool.ts';
import { allOf, joined, fragment, type Fragment, raw, sql } from '../connections/statements.ts';
import { READ_IN_ORDER } from '../sql/rules.ts';
import { countMatching, MOST_COUNTED } from '../sql/list-parts.ts';

/** A range of time, ms since 1970; the end is not part of it, and may be Infinity. */
export interface Range {
  from: number;
  to: number;
}

/** Selection of a list: a kind of row of one organization, made inside a range of time, with these columns. */
export interface Selection {
  kind: 'event' | 'delivery';
  organizationId: string;
  from?: Date;
  to?: Date;
  /** Only rows with ids below this text. */
  before?: string;
  /** Columns of the row; of several values any one. */
  where: {
    source_id?: string;
    route_id?: string;
    destination_id?: string;
    status?: string | string[];
    routed?: boolean;
  };
  /** Another condition, on a row `r` that was made in the range. */
  also?: (range: Range) => Fragment;
  /** Only events of which there is a delivery with these columns; both in the same one. */
  delivered?: { route_id?: string; destination_id?: string };
}

export const KINDS = {
  event: { table: 'events', prefix: 'evt', subject: 'source_id' },
  delivery: { table: 'deliveries', prefix: 'dlv', subject: 'destination_id' },
} as const satisfies Record<Selection['kind'], { table: string; prefix: IdPrefix; subject: string }>;

const FAILED_EVENTS = ['failed', 'partial'];

/**
 * The statuses of a selection that has only what ended without being delivered, else null. An index has these rows,
 * their statuses and all columns that `where` may name but `routed` (db/schema/03-events.sql).
 */
export function undeliveredStatuses({ kind, where: { status } }: Pick<Selection, 'kind' | 'where'>): string[] | null {
  const statuses = status === undefined ? [] : [status].flat();
  const isUndelivered = (one: string) =>
    kind === 'event' ? FAILED_EVENTS.includes(one) : one !== 'delivered' && !isOpenStatus(one);
  return statuses.length > 0 && statuses.every(isUndelivered) ? statuses : null;
}

/** Whether it has only events that were not routed, which have an index. */
const isNotRouted = ({ kind, where: { routed } }: Selection): boolean => kind === 'event' && routed === false;

/** Rows of a deleted source are invisible. */
export const rowsOf = ({ kind }: Selection): Fragment =>
  raw(`${KINDS[kind].table} r join sources s on s.id = r.source_id`);

/** The range of a selection, ms. */
export function rangeOfSelection({ from, to, before }: Selection): Range {
  const end = to ? to.getTime() + 1 : Infinity;
  return {
    from: from?.getTime() ?? 0,
    to: before === undefined ? end : Math.min(end, (boundTime(before) ?? 0) + 1),
  };
}

/** The condition on ids; with it PostgreSQL opens the partitions of those days only. */
export function madeIn(column: string, prefix: IdPrefix, range: Range): Fragment {
  const [low, high] = idBounds(prefix, range);
  return fragment`${raw(column)} >= ${low} and ${raw(column)} < ${high}`;
}

function idBounds(prefix: IdPrefix, { from, to }: Range): [low: string, high: string] {
  return [idFloor(prefix, from), to === Infinity ? `${prefix}_~` : idFloor(prefix, to)];
}

function madeWithin({ kind, before = '~' }: Selection, range: Range): Fragment {
  const [low, high] = idBounds(KINDS[kind].prefix, range);
  return fragment`r.id >= ${low} and r.id < ${before < high ? before : high}`;
}

/**
 * The whole condition on rows `r` that were made in a range. It depends on the filters, so that each statement is
 * planned for its filters.
 */
export function rowMatches(selection: Selection, range: Range): Fragment {
  const { also } = selection;
  const undelivered = undeliveredStatuses(selection);
  const conditions = [madeWithin(selection, range), matches(selection)];
  if (undelivered) conditions.push(fragment`r.undelivered_status = any(${undelivered}::text[])`);
  if (isNotRouted(selection)) conditions.push(raw('not r.routed'));
  if (also) conditions.push(also(range));
  return allOf(conditions);
}

/** The same without the time. */
export function matches({ organizationId, where }: Pick<Selection, 'organizationId' | 'where'>): Fragment {
  const given = Object.entries(where).filter(([, value]) => value !== undefined);
  const others = given.map(([name, value]) => {
    const column = raw(`r.${name}`);
    return Array.isArray(value) ? fragment`${column} = any(${value}::text[])` : fragment`${column} = ${value}`;
  });
  return allOf([fragment`r.organization_id = ${organizationId}`, ...others]);
}

// Rows in the order of an index, of which nothing but the index is read: those of an organization, of one source
// (events) or destination (deliveries), of those that were not delivered, and of events that were not routed. Lists
// without another filter are read so; others go through these rows in steps (search.ts).

const OWNER = {
  source_id: (id: string) => fragment`select organization_id from sources where id = ${id}`,
  // Deliveries stay when their destination is deleted.
  destination_id: (id: string) => fragment`select coalesce((select organization_id from destinations where id = ${id}),
    (select organization_id from deliveries where destination_id = ${id} limit 1))`,
};

/** What is known of a selection before its rows are read. */
interface Prepared {
  /** False: its source or destination is none of the organization, so there are no rows. */
  isOwn: boolean;
  /** Whether the index alone tells its rows: they match, and are visible. */
  isIndexed: boolean;
}

/** Prepares a transaction for reading a list: from now on PostgreSQL reads in the order of an index. */
export async function prepare(db: Queryable, selection: Selection): Promise<Prepared> {
  const { kind, organizationId, where, also, delivered } = selection;
  const { subject } = KINDS[kind];
  const { [subject]: id, routed, ...others } = where;
  const hasNo = (values: unknown[]) => values.every((value) => value === undefined);
  const isCovered = undeliveredStatuses(selection)
    ? routed === undefined
    : hasNo(Object.values(others)) && (routed === undefined || (isNotRouted(selection) && id === undefined));
  const isPlain = !also && !delivered && isCovered;
  const owner = id === undefined ? raw('true') : fragment`(${OWNER[subject](id)}) = ${organizationId}`;
  // Rows of a deleted source are invisible until they are gone.
  const { isOwn, isPurging } = await sql(db).only<{ isOwn: boolean | null; isPurging: boolean }>`
    select ${owner} as is_own,
           exists (select from source_purges where organization_id = ${organizationId}) as is_purging,
           ${raw(READ_IN_ORDER)}`;
  return { isOwn: isOwn === true, isIndexed: isPlain && !isPurging };
}

/**
 * `from` and `where` of the rows `r` that the index has of a selection, whatever its other filters are.
 * @param newest how many of the newest are read; null: they are only counted
 */
function inIndex(selection: Selection, range: Range, newest: number | null): Fragment {
  const { kind, organizationId, where } = selection;
  const { subject } = KINDS[kind];
  const from = raw(`from ${KINDS[kind].table} r where`);
  const made = madeWithin(selection, range);
  const undelivered = undeliveredStatuses(selection);
  if (undelivered) {
    const { source_id, route_id, destination_id } = where;
    const of = matches({ organizationId, where: { source_id, route_id, destination_id } });
    const ofStatus = (condition: Fragment) => fragment`${from} ${of} and ${made} and r.undelivered_status ${condition}`;
    if (undelivered.length === 1) return ofStatus(fragment`= ${undelivered[0]}`);
    if (newest === null) return ofStatus(fragment`= any(${undelivered}::text[])`);
    // The index has the ids of each status in order. PostgreSQL merges them only where each part has an end.
    const parts = undelivered.map(
      (status) => fragment`(select r.id ${ofStatus(fragment`= ${status}`)} order by r.id desc limit ${newest})`,
    );
    return fragment`from (${joined(parts, ' union all ')}) r`;
  }
  if (isNotRouted(selection))
    return fragment`${from} r.organization_id = ${organizationId} and not r.routed and ${made}`;
  const id = where[subject];
  const owner =
    id === undefined ? fragment`r.organization_id = ${organizationId}` : fragment`${raw(`r.${subject}`)} = ${id}`;
  return fragment`${from} ${owner} and ${made}`;
}

/** Exact up to MOST_COUNTED; more are estimated. */
export async function countIndexed(db: Queryable, selection: Selection): Promise<number> {
  const counted = await countMatching(db, inIndex(selection, rangeOfSelection(selection), null));
  return counted <= MOST_COUNTED ? counted : Math.max(counted, await estimateIndexed(db, selection));
}

export function readIndexed(db: Queryable, selection: Selection, limit: number, offset: number): Promise<string[]> {
  return sql(db).column`
    select r.id ${inIndex(selection, rangeOfSelection(selection), limit + offset)}
    order by r.id desc limit ${limit} offset ${offset}`;
}

/** How many there are by the statistics of PostgreSQL, which reads no row for it. */
export async function estimateIndexed(db: Queryable, selection: Selection): Promise<number> {
  const [{ Plan: plan }] = await sql(db).value<[{ Plan: { 'Plan Rows': number } }]>`
    explain (format json) select ${inIndex(selection, rangeOfSelection(selection), null)}`;
  return plan['Plan Rows'];
}

export interface RowRange extends Range {
  rows: number;
}

/**
 * The newest part of a range that has about so many of them; the whole range when it has fewer.
 * @param widthMs a part begins at a multiple of it
 */
export async function newestRange(
  db: Queryable,
  selection: Selection,
  range: Range,
  most: number,
  widthMs = 1,
): Promise<RowRange> {
  const { rows: read, first } = await sql(db).only<{ rows: number; first: string | null }>`
    select count(*)::int as rows, min(id) as first from (
      select r.id ${inIndex(selection, range, most)} order by r.id desc limit ${most}) x`;
  if (first === null || read < most) return { ...range, rows: read };
  const from = Math.floor(idTime(first) / widthMs) * widthMs;
  return { from: Math.max(range.from, from), to: range.to, rows: read };
}
