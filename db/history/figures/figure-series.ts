// Questions about the figures of an organization, and their answers as series (read-figures.ts, figure-latencies.ts).

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
  at: Date;
  figures: Figures;
}

export interface FigureAnswer {
  series: Series[];
  /** How many groups there are, shown or not. */
  groups: number;
}

/** A row of the statements. */
export interface FigureRow {
  id: string;
  name: string | null;
  groups: number;
  /** The beginning of a step; null: the whole time. */
  at: Date | null;
}

export const IN_TIME = 'bucket >= $2 and bucket < $3';
export const STEP_OF_BUCKET = `date_bin(make_interval(secs => $4), bucket, 'epoch')`;

/** The first parameters of every statement, $1 to $5. */
export function parametersOf({ organizationId, from, to, step, mostGroups }: FigureQuestion): unknown[] {
  return [organizationId, from, to, step, mostGroups];
}

/**
 * @param rows group by group; inside of each, in the order of time
 * @param read the figures of rows of one step, or of the whole time
 */
export function answerOf<Row extends FigureRow>(
  rows: Row[],
  read: (rows: Row[], isTotal: boolean) => Figures,
): FigureAnswer {
  const groups = Map.groupBy(rows, ({ id }) => id);
  const series = [...groups].map(([id, its]) => {
    const steps = Map.groupBy(its, ({ at }) => at?.getTime() ?? null);
    const total = steps.get(null) ?? [];
    steps.delete(null);
    return {
      id: id || null,
      name: its[0]?.name ?? null,
      total: read(total, true),
      points: [...steps].map(([ms, some]) => ({ at: new Date(ms ?? 0), figures: read(some, false) })),
    };
  });
  return { series, groups: rows[0]?.groups ?? 0 };
}
