// Is everything fine? Four figures, what needs somebody, then charts. An empty installation opens on the guide instead.
import type { MetricPoint as Point, Metrics } from '@hookyard/client';
import { Link } from '@tanstack/react-router';
import { type ReactNode, lazy, Suspense } from 'react';
import { useMay } from '../../api/caller.tsx';
import { useSome } from '../../api/lists.ts';
import { AGAIN_MS, useAsk } from '../../api/queries.ts';
import { beginOf, STEPS, stepsOf, Charts } from '../../charts/Figures.tsx';
import { Failed, Loading } from '../../components/Failed.tsx';
import { Page } from '../../components/Page.tsx';
import { Callout } from '../../components/ui.tsx';
import { countText, durationText, fromNowText, percentText, plain, totalText } from '../../format.ts';
import { type RangeName, useRangeName } from '../../search.ts';
import { OPEN } from '../../words.ts';
import { useNow } from '../../zone.tsx';
import { Attention, State, useAttention } from './Attention.tsx';

// Is everything fine? Four figures of the time range, each with its course and the change against the range before.

const sumOf = (points: Point[], member: 'events' | 'delivered' | 'failed' | 'notSent') =>
  points.reduce((sum, point) => sum + (point[member] ?? 0), 0);
/** Of finished deliveries; one that failed over counts by its successor. */
const rateOf = (points: Point[]): number | null => {
  const good = sumOf(points, 'delivered');
  const ended = good + sumOf(points, 'failed') + sumOf(points, 'notSent');
  return ended === 0 ? null : (100 * good) / ended;
};

/** A metric over the range, and over the one before: of 30 days there is none before. */
function usePeriods(metric: Metrics['metric'], range: RangeName) {
  const step = STEPS[range];
  const begin = beginOf(range, step);
  const from = range === '30d' ? begin : beginOf(range, Math.max(step, range === '1h' ? 300 : 3600), 2);
  // Figures in small steps reach back a day.
  const stepOfBoth = range === '24h' ? 3600 : step;
  const { data, error } = useAsk('getMetrics', { metric, from, step: stepOfBoth }, { every: AGAIN_MS, keep: true });
  const points = data?.series[0]?.points ?? [];
  const isNow = ({ at }: Point) => at >= begin;
  return {
    error,
    isLoaded: data !== undefined,
    now: points.filter(isNow),
    before: range === '30d' ? null : points.filter((point) => !isNow(point)),
    course: data ? stepsOf(data, begin).points : [],
  };
}

function Stats({ range }: { range: RangeName }) {
  const events = usePeriods('events', range);
  const deliveries = usePeriods('deliveries', range);
  const held = useSome('listDeliveries', { status: 'circuit_open' });
  const retrying = useSome('listDeliveries', { status: 'retrying' });
  const waiting = Object.entries({ held, retrying }).flatMap(([is, some]) => (some ? `${some.text} ${is}` : []));
  const error = events.error ?? deliveries.error;
  if (error) return <Failed error={error} />;
  const received = sumOf(events.now, 'events');
  const rate = rateOf(deliveries.now);
  const rateBefore = deliveries.before && rateOf(deliveries.before);
  return (
    <section className="stats" aria-label="Key metrics">
      <Stat
        title="Events received"
        to="/events"
        value={events.isLoaded ? countText(received) : '…'}
        note={
          events.isLoaded &&
          events.before && <Change {...{ range, now: received, before: sumOf(events.before, 'events') }} />
        }
        course={events.course.map((point) => point?.events ?? 0)}
      />
      <Stat
        title="Success rate"
        to="/deliveries"
        value={!deliveries.isLoaded ? '…' : rate === null ? '–' : percentText(rate)}
        isWarning={waiting.length > 0}
        note={
          waiting.length > 0 ? (
            <span className="warn">{waiting.join(', ')}, not counted</span>
          ) : (
            rate !== null &&
            rateBefore != null && <Change {...{ range, now: rate, before: rateBefore }} isPoints isGoodUp />
          )
        }
        course={deliveries.course.map((point) => (point ? rateOf([point]) : null))}
      />
      <Latency range={range} />
      <Waiting />
    </section>
  );
}

/**
 * Percentiles are kept by destination, and asked for a day at most: the slowest counts. Of longer ranges there is the
 * average.
 */
function Latency({ range }: { range: RangeName }) {
  const isShort = range === '1h' || range === '24h';
  const step = STEPS[range];
  const hour = Math.max(step, 3600);
  const input = isShort ? ({ metric: 'latency', groupBy: 'destination' } as const) : ({ metric: 'attempts' } as const);
  const options = { every: AGAIN_MS, keep: true };
  const now = useAsk('getMetrics', { ...input, from: beginOf(range, step), step }, options);
  const before = useAsk(
    'getMetrics',
    { ...input, from: beginOf(range, hour, 2), to: beginOf(range, hour), step: hour },
    { ...options, enabled: range === '24h' || range === '7d' },
  );
  const member = isShort ? 'p95' : 'avgLatency';
  const slowest = (metrics: Metrics | undefined) =>
    metrics?.series.toSorted((a, b) => (b.total[member] ?? 0) - (a.total[member] ?? 0))[0];
  const series = slowest(now.data);
  const value = series?.total[member] ?? null;
  const last = slowest(before.data)?.total[member] ?? null;
  return (
    <Stat
      title={isShort ? 'p95 latency' : 'Average latency'}
      to={series?.id ? `/destinations/${series.id}` : '/destinations'}
      value={value === null ? '–' : durationText(value)}
      note={
        value !== null && (
          <>
            {series?.name && `slowest: ${plain(series.name)}`}
            {last !== null && series?.name && ' · '}
            {last !== null && <Change {...{ range, now: value, before: last }} isGoodUp={false} />}
          </>
        )
      }
      course={(series?.points ?? []).map((point) => point[member] ?? null)}
    />
  );
}

function Waiting() {
  const all = useAsk('listDeliveries', { status: OPEN, pageSize: 1 }, { every: AGAIN_MS });
  const { total, totalIsExact = true } = all.data?.pagination ?? { total: 0, totalIsExact: false };
  // The oldest is the last of the list, whose newest come first.
  const last = useAsk(
    'listDeliveries',
    { status: OPEN, page: total, pageSize: 1 },
    { enabled: totalIsExact && total > 0, keep: true },
  );
  const held = useSome('listDeliveries', { status: 'circuit_open' });
  // Drawn again every ten seconds.
  useNow(10_000);
  const oldest = total > 0 ? last.data?.data[0] : undefined;
  return (
    <Stat
      title="Deliveries waiting"
      to="/deliveries"
      search={{ status: OPEN.join(','), range: 'all' }}
      value={all.error ? '–' : all.data ? totalText(all.data.pagination) : '…'}
      note={
        <>
          {held && <span className="warn">{held.text} held</span>}
          {held && oldest && ' · '}
          {oldest && `oldest ${fromNowText(oldest.createdAt, Date.now())}`}
        </>
      }
    />
  );
}

interface StatProps {
  title: string;
  value: string;
  isWarning?: boolean;
  note?: ReactNode;
  to: string;
  search?: Record<string, string>;
  course?: (number | null)[];
}

function Stat({ title, value, isWarning = false, note, to, search = {}, course = [] }: StatProps) {
  return (
    <Link to={to} search={search as never} className="card box stat">
      <span className="quiet">{title}</span>
      <b className={isWarning ? 'warn' : undefined}>{value}</b>
      <span className="small quiet">{note || ' '}</span>
      <Sparkline of={course} />
    </Link>
  );
}

const WIDTH = 120;
const HEIGHT = 28;

function Sparkline({ of: values }: { of: (number | null)[] }) {
  const most = Math.max(1, ...values.map(Number));
  const points = values.flatMap((value, index) => {
    if (value === null) return [];
    const x = (index * WIDTH) / Math.max(1, values.length - 1);
    const y = HEIGHT - 2 - ((HEIGHT - 4) * value) / most;
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {points.length > 1 && (
        <polyline
          points={points.join(' ')}
          fill="none"
          stroke="currentColor"
          strokeWidth="1.5"
          vectorEffect="non-scaling-stroke"
        />
      )}
    </svg>
  );
}

const PREVIOUS: Record<RangeName, string> = { '1h': 'hour', '24h': '24 hours', '7d': '7 days', '30d': '30 days' };

interface ChangeProps {
  range: RangeName;
  now: number;
  before: number;
  /** Of percentages: the difference is in points. */
  isPoints?: boolean;
  /** Whether more is better; without it neither. */
  isGoodUp?: boolean;
}

/** `+12% vs the previous 24 hours` */
function Change({ range, now, before, isPoints = false, isGoodUp }: ChangeProps) {
  if (before === 0 && !isPoints) return now === 0 ? 'no change' : `0 in the previous ${PREVIOUS[range]}`;
  const change = isPoints ? now - before : (100 * (now - before)) / before;
  const size = Math.abs(change);
  if (size < 0.05) return 'no change';
  const isGood = isGoodUp === undefined ? null : change > 0 === isGoodUp;
  const isMultiple = size >= 1000;
  const text = isMultiple
    ? `${countText(Math.round(now / before))}×`
    : `${change > 0 ? '+' : '−'}${size.toFixed(size < 10 ? 1 : 0)}${isPoints ? ' pts' : '%'}`;
  return (
    <>
      <span className={isGood === null ? undefined : isGood ? 'ok' : 'bad'}>{text}</span>
      {isMultiple ? ' ' : ' vs '}the previous {PREVIOUS[range]}
    </>
  );
}

const Start = lazy(async () => ({ default: (await import('../start/Start.tsx')).Start }));

export function Overview() {
  const range = useRangeName();
  const maySee = useMay('deliveries:read');
  const mayStart = useMay('sources:write');
  const attention = useAttention();
  const routes = useAsk('listRoutes', { pageSize: 1 }, { enabled: mayStart, scope: 'routes:read' });
  if (routes.data?.pagination.total === 0)
    return (
      <Suspense fallback={<Loading />}>
        <Start />
      </Suspense>
    );
  return (
    <Page title="Overview" status={<State of={attention} />}>
      {maySee ? (
        <Stats range={range} />
      ) : (
        <Callout tone="info" title="No metrics">
          Metrics require the <code>deliveries:read</code> scope.
        </Callout>
      )}
      <Attention of={attention} />
      <Charts show={['received', 'ended', 'average', 'refused']} />
    </Page>
  );
}
