import { z } from 'zod';
import { PLANS } from '../../../core/config/plans-and-scopes.ts';
import { idFloor } from '../../../core/text/ids.ts';
import { isCalendarDay } from '../../../core/text/timestamps.ts';
import { LIMIT_NAMES, LIMITS, type LimitName } from '../../../core/fairness/organization-limits.ts';
import { payloadDays } from '../../../core/config/config.ts';
import { countOpen } from '../../../db/delivery/delivery-commands.ts';
import { countRecords } from '../../../db/records/record-counts.ts';
import { type DayOfUse, dailyUse, loadUse, type Use } from '../../../db/organizations/usage.ts';
import { callerOf, organizationId } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';
import { component, count, text, withExample } from '../values.ts';
import { type Operation, operation } from '../../request/operation.ts';

const DAY_MS = 86_400_000;
const MAX_DAYS = 400;
const DEFAULT_DAYS = 31;
const SECOND_MS = 1000;

const limitUse = z.object({
  limit: withExample(count.nullable(), 1000, 'The limit. Null if unlimited.'),
  used: count.nullable().describe('The current usage. Null if not counted.'),
  unit: text('destinations'),
});

const usageAnswer = component('Usage', {
  plan: withExample(z.enum(PLANS), 'business'),
  limits: z.object(
    Object.fromEntries(LIMIT_NAMES.map((name) => [name, limitUse])) as Record<LimitName, typeof limitUse>,
  ),
  month: z
    .object({ from: text('2026-11-01'), events: count, payloadBytes: withExample(count, 4096) })
    .describe('Usage so far in the current calendar month (UTC).'),
});

const day = component('DayOfUse', {
  day: text('2026-11-21', 'The day, in UTC.'),
  events: count.describe('Stored events.'),
  payloadBytes: withExample(count, 4096, 'Total payload size of the stored events, in bytes.'),
  deliveries: count.describe('Deliveries created, including replays and failovers.'),
  attempts: count.describe('Attempts that ended on this day.'),
});

const dayParam = withExample(
  z.string({ error: 'must be set only once' }).refine((value) => isDay(value), 'must be a day such as 2026-11-21'),
  '2026-11-21',
).optional();
export const usageOperations: Operation[] = [
  operation('getUsage', 'get', '/api/organization/usage', {
    tag: 'Usage',
    summary: 'Get limits and usage',
    answer: { description: 'Every limit with its usage, and the usage in the current month.', schema: usageAnswer },
    async run(ctx) {
      const { id, plan, limits } = callerOf(ctx).organization;
      const [[use], records, waiting] = await Promise.all([
        loadUse(ctx.deps.pool, [id], payloadDays(ctx.deps.settings)),
        countRecords(ctx.deps.pool, id, idFloor('evt', Date.now() - SECOND_MS)),
        countOpen(ctx.deps.pool, id),
      ]);
      const { runningReplays, eventsInLastSecond, ...counts } = records;
      const used: Record<LimitName, number | null> = {
        ...counts,
        eventsPerSecond: eventsInLastSecond,
        eventsPerMonth: use?.monthEvents ?? 0,
        payloadBytes: null,
        waitingDeliveries: waiting,
        storedBytes: use?.storedBytes ?? 0,
        transformMsPerMinute: null,
        requestsPerMinute: ctx.deps.requests.inThisMinute(id),
        runningReplays,
        replayedPerSecond: null,
        runningImports: ctx.deps.requests.running(id, 'runningImports'),
        runningSearches: ctx.deps.requests.running(id, 'runningSearches'),
        runningTests: ctx.deps.requests.running(id, 'runningTests'),
        runningStreams: ctx.deps.requests.running(id, 'runningStreams'),
      };
      const shown = LIMIT_NAMES.map((name) => [
        name,
        { limit: Number.isFinite(limits[name]) ? limits[name] : null, used: used[name], unit: LIMITS[name].unit },
      ]);
      return { plan, limits: Object.fromEntries(shown), month: monthOf(use) };
    },
  }),
  operation('listDailyUsage', 'get', '/api/organization/usage/daily', {
    tag: 'Usage',
    summary: 'List daily usage',
    description: `Days without usage are omitted. \`Accept: text/csv\` returns CSV. Returns up to ${MAX_DAYS} days, by default the last ${DEFAULT_DAYS}.`,
    query: z.object({
      from: dayParam.describe(`The first day (UTC). Defaults to ${DEFAULT_DAYS - 1} days before \`to\`.`),
      to: dayParam.describe('The last day (UTC). Defaults to today.'),
    }),
    answer: {
      description: 'The days, oldest first.',
      content: {
        'application/json': { schema: z.object({ data: z.array(day) }) },
        'text/csv': { schema: withExample(z.string(), 'day,events,payloadBytes,deliveries,attempts\r\n') },
      },
    },
    async run(ctx, { query }) {
      const to = query.to ?? dayOf(Date.now());
      const from = query.from ?? dayOf(Date.parse(to) - (DEFAULT_DAYS - 1) * DAY_MS);
      if (Date.parse(to) - Date.parse(from) >= MAX_DAYS * DAY_MS)
        throw invalid('from', `must be less than ${MAX_DAYS} days before "to"`);
      const days = await dailyUse(ctx.deps.pool, organizationId(ctx), { from, to });
      ctx.vary('Accept');
      if (ctx.accepts('application/json', 'text/csv') === 'text/csv') {
        ctx.type = 'text/csv; charset=utf-8';
        return tableOf(days);
      }
      return { data: days };
    },
  }),
];

function monthOf(use: Use | undefined) {
  const from = `${(use?.today ?? dayOf(Date.now())).slice(0, 'yyyy-mm'.length)}-01`;
  return { from, events: use?.monthEvents ?? 0, payloadBytes: use?.monthBytes ?? 0 };
}

/** RFC 4180; there is nothing to quote in days and numbers. */
function tableOf(days: DayOfUse[]): string {
  const rows = days.map(({ day: date, events, payloadBytes, deliveries, attempts }) =>
    [date, events, payloadBytes, deliveries, attempts].join(','),
  );
  return ['day,events,payloadBytes,deliveries,attempts', ...rows, ''].join('\r\n');
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const isDay = (value: string): boolean => /^[12]\d{3}-\d{2}-\d{2}$/.test(value) && isCalendarDay(value);
