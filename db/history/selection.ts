// What a list selects, and the conditions of it in SQL.
import { boundTime, type IdPrefix, idFloor } from '../../core/text/ids.ts';

/** A range of time, ms since 1970; the end is not part of it, and may be Infinity. */
export interface Range {
  from: number;
  to: number;
}

/** Selection of a list: a kind of row of one organization, made inside a range of time, with these columns. */
export interface Selection {
  kind: 'event' | 'delivery';
  organizationId: string;
  /** First and last millisecond. */
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

/** The condition on the ids of rows `r` of a selection that were made in a range. */
export function madeWithin(query: Parameters, { kind, before = '~' }: Selection, range: Range): string {
  const [low, high] = idBounds(KINDS[kind].prefix, range);
  return `r.id >= ${query.add(low)} and r.id < ${query.add(before < high ? before : high)}`;
}

/** The whole condition on rows `r` that were made in a range. */
export function rowMatches(query: Parameters, selection: Selection, range: Range): string {
  const { also } = selection;
  const made = madeWithin(query, selection, range);
  return `${made} and ${matches(query, selection)}${also ? ` and ${also(query, range)}` : ''}`;
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

/** Collects the values of a statement whose conditions depend on the filters, so that each is planned for its filters. */
export class Parameters {
  readonly values: unknown[] = [];
  /** @returns the `$n` that stands for it */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}
