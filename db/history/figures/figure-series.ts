// Questions about the figures of an organization, and their answers as series (read-figures.ts, delivery-figures.ts, figure-latencies.ts).

export const METRICS = ['events', 'filtered', 'refused', 'deliveries', 'attempts', 'latency'] as const;
export type Metric = (typeof METRICS)[number];
export const GROUPINGS = ['source', 'route', 'destination', 'statusCode'] as const;
export type Grouping = (typeof GROUPINGS)[number];
/** What a question may be narrowed to. */
export type Narrowing = 'sourceId' | 'routeId' | 'destinationId';

export interface FigureQuestion {
  organizationId: string;
  metric: Metric;
  groupBy: Grouping | null;
  where: Partial<Record<Narrowing, string>>;
  from: Date;
  to: Date;
  /** s */
  step: number;
  /** Of the groups with most, so many are shown. */
  mostGroups: number;
}

/** Figures by their names. */
export type Figures = Record<string, number | null | Record<string, number>>;

interface Series {
  /** Of the group; null without groups, and for what has no route. */
  id: string | null;
  /** Null for a record that was deleted. */
  name: string | null;
  total: Figures;
  /** In order; steps in which nothing was counted are left out. */
  points: Point[];
}

interface Point {
  /** The beginning of the step (RFC 3339). */
  at: string;
  figures: Figures;
}

export interface FigureAnswer {
  series: Series[];
  /** How many groups there are, shown or not. */
  groups: number;
}

export const IN_TIME = 'bucket >= $2 and bucket < $3';
/** A time as ms since 1970: a number is read in half the time that a Date takes. @param at a column */
export const msOf = (at: string): string => `1000 * date_part('epoch', ${at})`;
export const STEP_OF_BUCKET = `date_bin(make_interval(secs => $4), bucket, 'epoch')`;

/** A deleted source takes its events with it, and from then on nothing shows what came of them. */
export const OF_SOURCES = 'source_id in (select id from sources where organization_id = $1)';
/** Where the names of groups are. */
export const GROUP_TABLES: Partial<Record<Grouping, string>> = {
  source: 'sources',
  route: 'routes',
  destination: 'destinations',
};

/** The first parameters of every statement, $1 to $5. */
export function parametersOf({ organizationId, from, to, step, mostGroups }: FigureQuestion): unknown[] {
  return [organizationId, from, to, step, mostGroups];
}

/** Times of the steps of an answer as texts; series have the same. @returns a function of ms since 1970 */
export function timeTexts(): (ms: number) => string {
  const texts = new Map<number, string>();
  return (ms) => {
    const known = texts.get(ms);
    if (known !== undefined) return known;
    const text = new Date(ms).toISOString();
    texts.set(ms, text);
    return text;
  };
}
