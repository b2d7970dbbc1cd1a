// Figures over time (GET /api/metrics), of all or of a source, a route or a destination, as a chart with its totals.
import type { MetricPoint, Metrics } from '@hookyard/client';
import { useMemo } from 'react';
import { useMay } from '../api/caller.tsx';
import { useSome } from '../api/lists.ts';
import { AGAIN_MS, useAsk } from '../api/queries.ts';
import { Failed, Loading } from '../components/Failed.tsx';
import { Card } from '../components/ui.tsx';
import { countText, durationText, plural } from '../format.ts';
import { RANGES, type RangeName, useRangeName } from '../search.ts';
import { Chart, type List, type Series } from './Chart.tsx';

/** Seconds. */
export const STEPS: Record<RangeName, number> = { '1h': 300, '24h': 1800, '7d': 10_800, '30d': 86_400 };
/** Figures in small steps reach back a day or a week, by the clock of the API, which may differ so much. */
const CLOCK_MS = 60_000;
/** Refused webhooks are counted by the hour. */
const REFUSED_STEP = 3600;

/** Of what is counted; without statuses it counts deliveries of any. */
type Look = [label: string, color: string, statuses?: string];
const MEMBERS = {
  events: ['events', '--series-1'],
  filtered: ['filtered out', '--series-5'],
  delivered: ['delivered', '--series-2', 'delivered'],
  failed: ['failed', '--series-3', 'failed'],
  failedOver: ['failed over', '--series-5', 'failed_over'],
  notSent: ['failed before sending', '--series-4', 'schema_failed,filter_failed,failed'],
  refused: ['refused', '--series-3'],
  avgLatency: ['average', '--series-1'],
  p50: ['p50', '--series-1'],
  p95: ['p95', '--series-4'],
  p99: ['p99', '--series-3'],
} satisfies Record<string, Look>;
type Member = keyof typeof MEMBERS;

/**
 * Where a range begins, at a whole step, of which some has passed by the clock of the API.
 * @param times the number of ranges before now
 */
export function beginOf(range: RangeName, step: number, times = 1): string {
  const now = Date.now();
  const stepMs = step * 1000;
  const first = Math.ceil((now + CLOCK_MS - times * RANGES[range]) / stepMs);
  return new Date(Math.min(first, Math.floor((now - CLOCK_MS) / stepMs)) * stepMs).toISOString();
}

interface Content {
  title: string;
  metric: Metrics['metric'];
  members: readonly Member[];
}
type Subject = { sourceId?: string; routeId?: string; destinationId?: string };

const CHARTS = {
  received: { title: 'Events received', metric: 'events', members: ['events'] },
  routed: { title: 'Events routed', metric: 'events', members: ['events'] },
  refused: { title: 'Refused webhooks', metric: 'refused', members: ['refused'] },
  /** One that failed over counts by its successor. */
  ended: { title: 'Deliveries', metric: 'deliveries', members: ['delivered', 'failed', 'notSent'] },
  deliveries: { title: 'Deliveries', metric: 'deliveries', members: ['delivered', 'failed', 'failedOver', 'notSent'] },
  percentiles: { title: 'Response latency', metric: 'latency', members: ['p50', 'p95', 'p99'] },
  average: { title: 'Response latency', metric: 'attempts', members: ['avgLatency'] },
} satisfies Record<string, Content>;

/** Charts of the time range of the page, for keys that may see them. @param of of what; of all without it */
export function Charts({ show, of = {} }: { show: (keyof typeof CHARTS)[]; of?: Subject }) {
  const range = useRangeName();
  if (!useMay('deliveries:read')) return null;
  return (
    <div className="grid-2">
      {show.map((name) => (
        <Figures key={name} {...(CHARTS[name] as Content)} range={range} of={of} />
      ))}
    </div>
  );
}

/** The list that holds what a member counts. */
function listOfMember(member: Member, of: Subject): List {
  if (member === 'events' || member === 'filtered') return { to: '/events', search: of };
  if (member === 'refused')
    return of.sourceId
      ? { to: `/sources/${of.sourceId}`, search: { tab: 'refused-webhooks' } }
      : { to: '/refusals', search: {} };
  const [, , status] = MEMBERS[member] as Look;
  return { to: '/deliveries', search: { ...of, status } };
}

function Figures({ title, metric, members, range, of }: Content & { range: RangeName; of: Subject }) {
  const step = metric === 'refused' ? Math.max(REFUSED_STEP, STEPS[range]) : STEPS[range];
  const from = beginOf(range, step);
  const input = { metric, from, step, ...of };
  const { data, error, refetch } = useAsk('getMetrics', input, { every: AGAIN_MS, keep: true });
  const held = useSome('listDeliveries', { ...of, status: 'circuit_open' }, { enabled: metric === 'deliveries' });
  const total: Partial<Record<Member, number | null>> = data?.series[0]?.total ?? {};
  const shown = members.filter((member) => !['notSent', 'failedOver'].includes(member) || total[member]);
  const key = JSON.stringify({ shown, of });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is what they say
  const drawn = useMemo(() => data && drawnOf(data, shown, of), [data, key]);
  if (error || !drawn)
    return (
      <Card title={title}>{error ? <Failed error={error} again={() => void refetch()} /> : <Loading lines={5} />}</Card>
    );
  return (
    <Chart
      title={title}
      {...drawn}
      summary={held ? `${drawn.summary}, ${held.text} held now` : drawn.summary}
      call={{ name: 'getMetrics', input }}
      stepMs={step * 1000}
      isLatency={isLatency(metric)}
    />
  );
}

const isLatency = (metric: Metrics['metric']): boolean => metric === 'latency' || metric === 'attempts';

/** The steps of figures from a time on, with what was counted in each. */
export function stepsOf({ from, to, step, series: [one] }: Metrics, begin = from) {
  const stepMs = step * 1000;
  const counted = new Map<number, MetricPoint>((one?.points ?? []).map((point) => [Date.parse(point.at), point]));
  const times: number[] = [];
  for (let at = Math.ceil(Date.parse(begin) / stepMs) * stepMs; at < Date.parse(to); at += stepMs) times.push(at);
  return { times, points: times.map((at) => counted.get(at)) };
}

function drawnOf(data: Metrics, members: readonly Member[], of: Subject) {
  const { times, points } = stepsOf(data);
  const series: Series[] = members.map((member) => ({
    label: MEMBERS[member][0],
    color: MEMBERS[member][1],
    values: points.map((point) => point?.[member] ?? (isLatency(data.metric) ? null : 0)),
    list: listOfMember(member, of),
  }));
  const total = (data.series[0]?.total ?? {}) as Partial<Record<Member, number | null>>;
  const parts = members.map((member) => {
    const [label] = MEMBERS[member];
    const value = total[member];
    return isLatency(data.metric)
      ? `${label} ${value == null ? '–' : durationText(value)}`
      : member === 'events'
        ? plural(value ?? 0, 'event')
        : `${countText(value ?? 0)} ${label}`;
  });
  return { times, series, summary: parts.join(', ') };
}
