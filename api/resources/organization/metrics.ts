import { z } from 'zod';
import { MAX_STEP, MIN_STEP, MOST_DAYS, type Steps, stepsOf } from '../../../core/metrics/figure-steps.ts';
import { inSnapshot } from '../../../db/connections/pool.ts';
import {
  completeUntil,
  GROUPINGS,
  type Grouping,
  METRICS,
  type Metric,
  type Narrowing,
  readFigures,
} from '../../../db/ledger/figures.ts';
import { organizationId } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';
import { component, count, exampleId, latency, text, timestamp, withExample } from '../values.ts';
import { operation } from '../../request/operation.ts';
import { choiceParam, textParam, timeParam } from '../../request/query.ts';

/** Series of one answer, and steps of all of them; of latencies fewer, because each step of one reads a histogram. */
const MOST_GROUPS = 50;
const MOST_POINTS = 3000;
const MOST_LATENCIES = 10;
/** A day in steps of a day may be two. */
const MOST_LATENCY_MS = 2 * 86_400_000;
const DEFAULT_STEP = 3600;
/** Refused webhooks are counted by the hour. */
const REFUSED_STEP = 3600;

const KNOWN: Record<Metric, { groupBy: readonly Grouping[]; where: readonly Narrowing[] }> = {
  events: { groupBy: ['source', 'route'], where: ['sourceId', 'routeId'] },
  filtered: { groupBy: ['source', 'route'], where: ['sourceId', 'routeId'] },
  refused: { groupBy: ['source'], where: ['sourceId'] },
  deliveries: { groupBy: ['source', 'route', 'destination'], where: ['sourceId', 'routeId', 'destinationId'] },
  attempts: { groupBy: GROUPINGS, where: ['sourceId', 'routeId', 'destinationId'] },
  latency: { groupBy: ['destination'], where: ['destinationId'] },
};

const stepParam = z
  .string({ error: 'must be set only once' })
  .regex(/^\d{1,6}$/, 'must be a whole number of seconds')
  .transform(Number)
  .refine(
    (step) => step >= MIN_STEP && step <= MAX_STEP && step % MIN_STEP === 0,
    `must be a multiple of ${MIN_STEP} (5 minutes), at most ${MAX_STEP} (1 day)`,
  )
  .meta({
    description: 'Interval length, in seconds. Intervals are aligned to the Unix epoch (UTC).',
    examples: [DEFAULT_STEP],
    override: { type: 'integer', minimum: MIN_STEP, maximum: MAX_STEP, multipleOf: MIN_STEP, default: DEFAULT_STEP },
  })
  .default(DEFAULT_STEP);

const counts = z.record(z.string(), count);
const optional = (description: string) => count.optional().meta({ description });
const figures = {
  events: optional('For `events`: stored events or, for a route, events that it matched.'),
  filtered: optional("For `filtered`: events that did not match a route's filter."),
  refused: optional('For `refused`: refused webhooks.'),
  causes: withExample(counts.optional(), { signature: 3 }, 'For `refused`: counts by cause.'),
  delivered: optional('For `deliveries`: accepted by the destination.'),
  failed: optional('For `deliveries`: failed after an attempt.'),
  failedOver: optional('For `deliveries`: replaced by a delivery to a failover destination.'),
  notSent: optional(
    'For `deliveries`: failed without an attempt, for example because the payload did not match the schema.',
  ),
  cancelled: optional('For `deliveries`: cancelled.'),
  attempts: optional('For `attempts`: all attempts. For `latency`: attempts with a response.'),
  avgLatency: latency
    .nullable()
    .optional()
    .describe('For `attempts`: average latency, in milliseconds. Null if there were no responses.'),
  classes: withExample(
    counts.optional(),
    { '2xx': 12 },
    'For `attempts`: counts by `1xx` to `5xx`, `other` codes and `none` (no response).',
  ),
  p50: latency.nullable().optional(),
  p95: latency.nullable().optional(),
  p99: latency.nullable().optional(),
};
const total = component(
  'MetricTotal',
  {
    ...figures,
    codes: withExample(
      counts.optional(),
      { 200: 12 },
      'For `attempts`: counts by status code, `other` codes and `none` (no response).',
    ),
  },
  'Totals for the whole period.',
);
const point = component('MetricPoint', { at: timestamp, ...figures }, 'One interval, starting at `at`.');

const answer = component('Metrics', {
  metric: withExample(z.enum(METRICS), 'deliveries'),
  groupBy: z.enum(GROUPINGS).nullable(),
  from: timestamp,
  to: timestamp,
  step: withExample(z.int(), DEFAULT_STEP, 'Interval length, in seconds.'),
  completeUntil: timestamp.describe('The time before which all values are final. Later values may still increase.'),
  groups: withExample(count, 1, 'The total number of groups, including those not shown.'),
  series: z.array(
    z.object({
      id: text(exampleId('dst'), "The group's value: an ID or a status code. Null if there is none.").nullable(),
      name: text('CRM', "The record's name. Null if the group has no record or the record was deleted.").nullable(),
      total,
      points: z.array(point).describe('Empty intervals are omitted.'),
    }),
  ),
});

export const metricOperation = operation('getMetrics', 'get', '/api/metrics', {
  tag: 'Metrics',
  summary: 'Get time series',
  description:
    'Counts are exact; percentiles are at most 1.6% too high. Refused webhooks are counted with a delay of a few seconds. Intervals shorter than an hour are kept for a day.',
  query: z.object({
    metric: withExample(z.enum(METRICS).default('deliveries'), 'attempts', 'The metric to return.'),
    groupBy: choiceParam(GROUPINGS).describe(
      `One series per value: the largest ${MOST_GROUPS} (${MOST_LATENCIES} for latencies), with at most ${MOST_POINTS} points in total. ` +
        'If omitted, there is one series, or none if there is no data.',
    ),
    from: timeParam.describe(`Start of the period, at most ${MOST_DAYS} days ago. Defaults to one day before \`to\`.`),
    to: timeParam.describe('End of the period. Defaults to now.'),
    step: stepParam,
    sourceId: textParam,
    routeId: textParam,
    destinationId: textParam,
  }),
  answer: { description: 'The series, largest first.', schema: answer },
  async run(ctx, { query: asked }) {
    const { metric, groupBy = null, step: wanted, ...query } = asked;
    const { sourceId, routeId, destinationId } = query;
    const where = {
      ...(sourceId && { sourceId }),
      ...(routeId && { routeId }),
      ...(destinationId && { destinationId }),
    };
    requireKnown(metric, groupBy, where);
    if (metric === 'refused' && wanted % REFUSED_STEP !== 0)
      throw invalid('step', `must be a multiple of ${REFUSED_STEP} (1 hour) if metric=refused`);
    const steps = stepsOf(query, wanted, Date.now());
    if ('member' in steps) throw invalid(steps.member, steps.message);
    if (metric === 'latency') requireFewLatencies(groupBy, destinationId, steps);
    // Read first: what was committed until then is in the figures.
    const until = await completeUntil(ctx.deps.pool);
    const question = { organizationId: organizationId(ctx), metric, groupBy, where, ...steps };
    const { series, groups } = await inSnapshot(ctx.deps.pool, (db) =>
      readFigures(db, { ...question, mostGroups: mostGroups(metric, steps) }),
    );
    return {
      metric,
      groupBy,
      ...steps,
      completeUntil: until,
      groups,
      series: series.map(({ points, ...rest }) => ({
        ...rest,
        points: points.map(({ at, figures: its }) => ({ at, ...its })),
      })),
    };
  },
});

function mostGroups(metric: Metric, { from, to, step }: Steps): number {
  const points = (to.getTime() - from.getTime()) / (step * 1000);
  return Math.min(metric === 'latency' ? MOST_LATENCIES : MOST_GROUPS, Math.floor(MOST_POINTS / points));
}

function requireKnown(metric: Metric, groupBy: Grouping | null, where: Partial<Record<Narrowing, string>>): void {
  const known = KNOWN[metric];
  if (groupBy !== null && !known.groupBy.includes(groupBy))
    throw invalid('groupBy', `must be ${known.groupBy.join(' or ')} if metric=${metric}`);
  const unknown = (Object.keys(where) as Narrowing[]).find((name) => !known.where.includes(name));
  if (unknown !== undefined)
    throw invalid(unknown, `cannot be combined with metric=${metric}; valid filters: ${known.where.join(', ')}`);
}

/** Latencies are kept as histograms by destination: of many over a month there are too many rows for one answer. */
function requireFewLatencies(groupBy: Grouping | null, destinationId: string | undefined, { from, to }: Steps): void {
  if (destinationId !== undefined) return;
  if (groupBy === null) throw invalid('destinationId', 'is required if metric=latency, unless groupBy=destination');
  if (to.getTime() - from.getTime() > MOST_LATENCY_MS)
    throw invalid('from', 'must be at most one day before "to" if metric=latency and destinationId is not set');
}
