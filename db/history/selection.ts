// What a list selects, and the conditions of it in SQL.
import { boundTime, type IdPrefix, idFloor } from '../../core/ids.ts';
import type { Range } from './lists/cut.ts';

/** Selection of a list: a kind of row of one organization, made inside a range of time, with these columns. */
export interface Selection {
  kind: 'event' | 'delivery';
  organizationId: string;
  /** First and last millisecond. */
  from?: Date;
  to?: Date;
  /** Only rows with ids from this text on, and below that one. Counts know the time in it only: pages go without. */
  since?: string;
  before?: string;
  /** What the counts tell apart; of several values any one. */
  where: {
    source_id?: string;
    route_id?: string;
    destination_id?: string;
    status?: string | string[];
    routed?: boolean;
  };
  /** What they do not, so that rows have to be read: a condition on a row `r` that was made in the range. */
  also?: (query: Parameters, range: Range) => string;
  /** Only events of which there is a delivery with these columns; both in the same one. */
  delivered?: { route_id?: string; destination_id?: string };
}

export const KINDS = {
  event: { table: 'events', prefix: 'evt', subject: 'source_id' },
  delivery: { table: 'deliveries', prefix: 'dlv', subject: 'destination_id' },
} as const satisfies Record<Selection['kind'], { table: string; prefix: IdPrefix; subject: string }>;

/** Rows of a deleted source are invisible. */
export function rowsOf({ kind }: Selection): string {
  return `${KINDS[kind].table} r join sources s on s.id = r.source_id`;
}

/** Whether it is a list of everything. */
export const isUnfiltered = ({ where }: Selection): boolean =>
  Object.values(where).every((value) => value === undefined);

/** Whether the counts tell all of it. */
export const isCounted = ({ also, delivered }: Selection): boolean => also === undefined && delivered === undefined;

/** The range of a selection, ms. */
export function rangeOfSelection({ from, to, since, before }: Selection): Range {
  const first = from?.getTime() ?? 0;
  const end = to ? to.getTime() + 1 : Infinity;
  return {
    from: since === undefined ? first : Math.max(first, boundTime(since) ?? 0),
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

/** The whole condition on rows `r` that were made in a range. */
export function rowMatches(query: Parameters, selection: Selection, range: Range): string {
  const { kind, since = '', before = '~', also } = selection;
  const [low, high] = idBounds(KINDS[kind].prefix, range);
  const made = `r.id >= ${query.add(since > low ? since : low)} and r.id < ${query.add(before < high ? before : high)}`;
  return `${made} and ${matches(query, 'r', selection)}${also ? ` and ${also(query, range)}` : ''}`;
}

/** The condition on what is counted, but for the time. */
export function matches(query: Parameters, alias: string, { organizationId, where }: Selection): string {
  const conditions = Object.entries(where).filter(([, value]) => value !== undefined);
  return [['organization_id', organizationId] as const, ...conditions]
    .map(([column, value]) =>
      Array.isArray(value)
        ? `${alias}.${column} = any(${query.add(value)}::text[])`
        : `${alias}.${column} = ${query.add(value)}`,
    )
    .join(' and ');
}

/** Collects the values of a statement whose conditions depend on the filters, so that each is planned for its filters. */
export class Parameters {
  readonly values: unknown[] = [];
  /** @returns the `$n` that stands for it */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}
