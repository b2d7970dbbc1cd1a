import { isOpenStatus } from '../../core/delivery/delivery.ts';
import { boundTime, type IdPrefix, idFloor, idTime } from '../../core/text/ids.ts';
import type { Queryable } from '../connections/pool.ts';
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
  also?: (query: Parameters, range: Range) => string;
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
export function rowsOf({ kind }: Selection): string {
  return `${KINDS[kind].table} r join sources s on s.id = r.source_id`;
}

/** The range of a selection, ms. */
export function rangeOfSelection({ from, to, before }: Selection): Range {
  const end = to ? to.getTime() + 1 : Infinity;
  return {
    from: from?.getTime() ?? 0,
    to: before === undefined ? end : Math.min(end, (boundTime(before) ?? 0) + 1),
  };
}

/** The condition on ids; with it PostgreSQL opens the partitions of those days only. */
export function madeIn(query: Parameters, column: string, prefix: IdPrefix, range: Range): string {
  const [low, high] = idBounds(prefix, range);
  return `${column} >= ${query.add(low)} and ${column} < ${query.add(high)}`;
}

function idBounds(prefix: IdPrefix, { from, to }: Range): [low: string, high: string] {
  return [idFloor(prefix, from), to === Infinity ? `${prefix}_~` : idFloor(prefix, to)];
}

function madeWithin(query: Parameters, { kind, before = '~' }: Selection, range: Range): string {
  const [low, high] = idBounds(KINDS[kind].prefix, range);
  return `r.id >= ${query.add(low)} and r.id < ${query.add(before < high ? before : high)}`;
}

/** The whole condition on rows `r` that were made in a range. */
export function rowMatches(query: Parameters, selection: Selection, range: Range): string {
  const { also } = selection;
  const undelivered = undeliveredStatuses(selection);
  const conditions = [madeWithin(query, selection, range), matches(query, selection)];
  if (undelivered) conditions.push(`r.undelivered_status = any(${query.add(undelivered)}::text[])`);
  if (isNotRouted(selection)) conditions.push('not r.routed');
  if (also) conditions.push(also(query, range));
  return conditions.join(' and ');
}

/** The same without the time. */
export function matches(
  query: Parameters,
  { organizationId, where }: Pick<Selection, 'organizationId' | 'where'>,
): string {
  const conditions = Object.entries(where).filter(([, value]) => value !== undefined);
  return [['organization_id', organizationId] as const, ...conditions]
    .map(([column, value]) =>
      Array.isArray(value) ? `r.${column} = any(${query.add(value)}::text[])` : `r.${column} = ${query.add(value)}`,
    )
    .join(' and ');
}

/**
 * Collects the values of a statement whose conditions depend on the filters, so that each is planned for its filters.
 */
export class Parameters {
  readonly values: unknown[] = [];
  /** @returns the `$n` that stands for it */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

// Rows in the order of an index, of which nothing but the index is read: those of an organization, of one source
// (events) or destination (deliveries), of those that were not delivered, and of events that were not routed. Lists
// without another filter are read so; others go through these rows in steps (search.ts).

const OWNER = {
  source_id: 'select organization_id from sources where id = $2',
  // Deliveries stay when their destination is deleted.
  destination_id: `select coalesce((select organization_id from destinations where id = $2),
    (select organization_id from deliveries where destination_id = $2 limit 1))`,
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
  const owner = id === undefined ? 'true' : `(${OWNER[subject]}) = $1`;
  // Rows of a deleted source are invisible until they are gone.
  const { rows } = await db.query<{ isOwn: boolean | null; isPurging: boolean }>(
    `select ${owner} as "isOwn", exists (select from source_purges where organization_id = $1) as "isPurging",
      ${READ_IN_ORDER}`,
    id === undefined ? [organizationId] : [organizationId, id],
  );
  return { isOwn: rows[0]?.isOwn === true, isIndexed: isPlain && rows[0]?.isPurging === false };
}

/**
 * `from` and `where` of the rows `r` that the index has of a selection, whatever its other filters are.
 * @param newest how many of the newest are read; null: they are only counted
 */
function inIndex(query: Parameters, selection: Selection, range: Range, newest: number | null): string {
  const { kind, organizationId, where } = selection;
  const { table, subject } = KINDS[kind];
  const made = madeWithin(query, selection, range);
  const undelivered = undeliveredStatuses(selection);
  if (undelivered) {
    const { source_id, route_id, destination_id } = where;
    const of = `${matches(query, { organizationId, where: { source_id, route_id, destination_id } })} and ${made}`;
    const ofStatus = (condition: string) => `from ${table} r where ${of} and r.undelivered_status ${condition}`;
    if (undelivered.length === 1) return ofStatus(`= ${query.add(undelivered[0])}`);
    if (newest === null) return ofStatus(`= any(${query.add(undelivered)}::text[])`);
    // The index has the ids of each status in order. PostgreSQL merges them only where each part has an end.
    const most = query.add(newest);
    const parts = undelivered.map(
      (status) => `(select r.id ${ofStatus(`= ${query.add(status)}`)} order by r.id desc limit ${most})`,
    );
    return `from (${parts.join(' union all ')}) r`;
  }
  const organization = () => `r.organization_id = ${query.add(organizationId)}`;
  if (isNotRouted(selection)) return `from ${table} r where ${organization()} and not r.routed and ${made}`;
  const id = where[subject];
  const owner = id === undefined ? organization() : `r.${subject} = ${query.add(id)}`;
  return `from ${table} r where ${owner} and ${made}`;
}

/** Exact up to MOST_COUNTED; more are estimated. */
export async function countIndexed(db: Queryable, selection: Selection): Promise<number> {
  const query = new Parameters();
  const matching = inIndex(query, selection, rangeOfSelection(selection), null);
  const counted = await countMatching(db, matching, query.values);
  return counted <= MOST_COUNTED ? counted : Math.max(counted, await estimateIndexed(db, selection));
}

export async function readIndexed(db: Queryable, selection: Selection, limit: number, offset: number) {
  const query = new Parameters();
  const { rows } = await db.query<{ id: string }>(
    `select r.id ${inIndex(query, selection, rangeOfSelection(selection), limit + offset)}
     order by r.id desc limit ${query.add(limit)} offset ${query.add(offset)}`,
    query.values,
  );
  return rows.map(({ id }) => id);
}

/** How many there are by the statistics of PostgreSQL, which reads no row for it. */
export async function estimateIndexed(db: Queryable, selection: Selection): Promise<number> {
  const query = new Parameters();
  const { rows } = await db.query<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(
    `explain (format json) select ${inIndex(query, selection, rangeOfSelection(selection), null)}`,
    query.values,
  );
  return rows[0]?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0;
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
  const query = new Parameters();
  const { rows } = await db.query<{ rows: number; first: string | null }>(
    `select count(*)::int as rows, min(id) as first from (
       select r.id ${inIndex(query, selection, range, most)} order by r.id desc limit ${query.add(most)}) x`,
    query.values,
  );
  const { rows: read = 0, first = null } = rows[0] ?? {};
  if (first === null || read < most) return { ...range, rows: read };
  const from = Math.floor(idTime(first) / widthMs) * widthMs;
  return { from: Math.max(range.from, from), to: range.to, rows: read };
}
