// How it goes: what came in, what was delivered, failed or refused, how quickly, and what needs somebody now.
import { Alert, Group, SimpleGrid, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { MetricPoint, Metrics, Route } from 'hookyard/client';
import { useCallback, useMemo } from 'react';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { Chart, type Series } from '../../charts/Chart.tsx';
import { Failed } from '../../components/Failed.tsx';
import { RangeFilter } from '../../components/filters.tsx';
import { IssueLines } from '../../components/IssueLines.tsx';
import { Name } from '../../components/Name.tsx';
import { Page } from '../../components/Page.tsx';
import { Status } from '../../components/Status.tsx';
import { countText, durationText } from '../../format.ts';
import { isRangeName, RANGES, type RangeName, usePageSearch } from '../../search.ts';
import { Backlog } from './Backlog.tsx';

const AGAIN_MS = 15_000;
const STEPS: Record<RangeName, number> = { '1h': 300, '24h': 1800, '7d': 10_800, '30d': 86_400 };
/** Refused webhooks are counted by the hour. */
const REFUSED_STEP = 3600;
const MOST_ISSUES = 5;

export function Overview() {
  const [search] = usePageSearch();
  const range: RangeName = isRangeName(search.range) ? search.range : '24h';
  const maySee = useMay('deliveries:read');
  return (
    <Page title="Overview" actions={<RangeFilter byDefault="24h" />}>
      <Attention />
      {maySee ? <Charts range={range} /> : <Text>This key may not read deliveries, so there are no figures.</Text>}
      <Backlog />
    </Page>
  );
}

function Charts({ range }: { range: RangeName }) {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} mb="md">
      <Figures
        range={range}
        metric="events"
        title="Webhooks in"
        series={{ events: ['received', '#1971c2'] }}
        to="/events"
      />
      <Figures
        range={range}
        metric="deliveries"
        title="Deliveries"
        series={{
          delivered: ['delivered', '#2b8a3e'],
          failed: ['failed', '#c92a2a'],
          notSent: ['not sent', '#e8590c'],
        }}
        to="/deliveries"
      />
      <Figures
        range={range}
        metric="refused"
        title="Refused webhooks"
        series={{ refused: ['refused', '#c92a2a'] }}
        to="/events"
      />
      <Figures
        range={range}
        metric="attempts"
        title="Latency of answers (ms)"
        series={{ avgLatency: ['average', '#1971c2'] }}
        to="/deliveries"
      />
    </SimpleGrid>
  );
}

type Member = 'events' | 'delivered' | 'failed' | 'notSent' | 'refused' | 'avgLatency';

interface FiguresProps {
  range: RangeName;
  metric: 'events' | 'deliveries' | 'refused' | 'attempts';
  title: string;
  series: Partial<Record<Member, [label: string, color: string]>>;
  to: string;
}

function Figures({ range, metric, title, series: wanted, to }: FiguresProps) {
  const step = metric === 'refused' ? Math.max(REFUSED_STEP, STEPS[range]) : STEPS[range];
  // Whole steps, so that the question stays the same until the next one.
  const from = new Date(Math.floor((Date.now() - RANGES[range]) / (step * 1000)) * step * 1000).toISOString();
  const input = { metric, from, step };
  const { data, error, refetch } = useAsk('getMetrics', input, { every: AGAIN_MS, keep: true });
  const drawn = useMemo(() => (data ? drawnOf(data, wanted) : null), [data, wanted]);
  const listOf = useCallback((begin: string, end: string) => ({ to, search: { from: begin, to: end } }), [to]);
  if (error)
    return (
      <section aria-label={title}>
        <h2>{title}</h2>
        <Failed error={error} again={() => void refetch()} />
      </section>
    );
  if (!drawn) return <section aria-label={title} className="chart" />;
  return <Chart title={title} {...drawn} call={{ name: 'getMetrics', input }} listOf={listOf} stepMs={step * 1000} />;
}

function drawnOf(data: Metrics, wanted: FiguresProps['series']) {
  const [one] = data.series;
  const stepMs = data.step * 1000;
  const points = new Map<number, MetricPoint>((one?.points ?? []).map((point) => [Date.parse(point.at), point]));
  const times: number[] = [];
  for (let at = Date.parse(data.from); at < Date.parse(data.to); at += stepMs) times.push(at);
  const members = Object.entries(wanted) as [Member, [string, string]][];
  const isLatency = data.metric === 'attempts';
  const series: Series[] = members.map(([member, [label, color]]) => ({
    label,
    color,
    values: times.map((at) => points.get(at)?.[member] ?? (isLatency ? null : 0)),
  }));
  const total = (one?.total ?? {}) as Partial<Record<Member, number | null>>;
  const parts = members.map(([member, [label]]) => {
    const value = total[member];
    return isLatency ? `${label} ${value == null ? '-' : durationText(value)}` : `${countText(value ?? 0)} ${label}`;
  });
  return { times, series, summary: `${parts.join(', ')}.` };
}

/** What needs somebody: open issues, and routes whose circuit is not closed. */
function Attention() {
  const mayIssues = useMay('issues:read');
  const mayRoutes = useMay('routes:read');
  const issues = useAsk('listIssues', { state: 'open', pageSize: MOST_ISSUES }, { enabled: mayIssues, every: AGAIN_MS });
  const routes = useAsk('listRoutes', { pageSize: 100 }, { enabled: mayRoutes, every: AGAIN_MS });
  const open = (routes.data?.data ?? []).filter(({ circuitState }) => circuitState !== 'closed');
  const total = issues.data?.pagination.total ?? 0;
  const hasNone = issues.data !== undefined && total === 0 && routes.data !== undefined && open.length === 0;
  return (
    <>
      {issues.error && <Failed error={issues.error} again={() => void issues.refetch()} />}
      {hasNone && <Text>Nothing keeps failing now: no issue and no circuit is open.</Text>}
      {total > 0 && (
        <Alert color="red" title={`What keeps failing: ${countText(total)} open ${total === 1 ? 'issue' : 'issues'}`} mb="sm">
          <IssueLines of={issues.data?.data ?? []} />
          <Text size="sm" mt="xs">
            The page of an issue says what helps.{' '}
            {total > MOST_ISSUES && (
              <Link to="/issues" search={{ state: 'open' } as never}>
                All {countText(total)} of them
              </Link>
            )}
          </Text>
        </Alert>
      )}
      {open.length > 0 && <Circuits routes={open} />}
    </>
  );
}

function Circuits({ routes }: { routes: Route[] }) {
  return (
    <Alert color="orange" title={`Circuits that are not closed: ${routes.length}`} mb="sm">
      {routes.map(({ id, name, circuitState }) => (
        <Group key={id} gap="xs">
          <Status of={circuitState} />
          <span>
            Route <Name id={id} name={name} />
          </span>
          <Link to="/deliveries" search={{ routeId: id, status: 'circuit_open', range: 'all' } as never}>
            What it holds
          </Link>
        </Group>
      ))}
      <Text size="sm" mt="xs">
        After too many failed attempts in a row a route sends nothing for a while, so that what is broken is left alone.
        Its deliveries wait meanwhile; none is lost. The page of the route says for how long, and can end it.
      </Text>
    </Alert>
  );
}
