// What needs somebody, one line each with one action: open issues, what holds deliveries, failing destinations.
import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { DestinationSummary, HttpDestinationSummary, Issue } from '@hookyard/client';
import { lazy, type ReactNode, Suspense } from 'react';
import { useAll } from '../../api/lists.ts';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { Failed, Loading } from '../../components/Failed.tsx';
import { Card, Dot, Name, Status, type Tone } from '../../components/ui.tsx';
import { countText, plain, plural, totalText } from '../../format.ts';
import { occurrencesOf, placeOf, titleOf } from '../../words/issues.ts';
import { Time } from '../../zone.tsx';

// With their dialogs: most overviews have none.
const Holds = lazy(async () => ({ default: (await import('../../components/Pausing.tsx')).Holds }));
const AGAIN_MS = 15_000;
const RATES_AGAIN_MS = 60_000;
/** Of each kind. */
const MOST = 5;
/** Percent. */
const HEALTHY_ABOVE = 95;
const FAILING_BELOW = 80;

type Rated = HttpDestinationSummary & { successRate: number };
const isFailing = (one: DestinationSummary): one is Rated =>
  one.type === 'http' && one.successRate !== null && one.successRate <= HEALTHY_ABOVE;

/** How many deliveries wait now in this way. */
export function useWaiting(status: 'circuit_open' | 'retrying') {
  const maySee = useMay('deliveries:read');
  return useAsk('listDeliveries', { status, pageSize: 1 }, { enabled: maySee, every: AGAIN_MS }).data?.pagination;
}

/** Is everything fine? Beside the title of the page. */
export function State() {
  const mayIssues = useMay('issues:read');
  const issues = useAsk('listIssues', { state: 'open', pageSize: MOST }, { enabled: mayIssues, every: AGAIN_MS });
  const open = issues.data?.pagination.total ?? 0;
  const held = useWaiting('circuit_open');
  if (!issues.data || !held) return null;
  return (
    <>
      {open > 0 && <Status of="open" label={plural(open, 'open issue')} />}
      {held.total > 0 && <Status of="circuit_open" label={`${plural(held.total, 'delivery', totalText(held))} held`} />}
      {open === 0 && held.total === 0 && <Status of="ok" label="All clear" />}
    </>
  );
}

export function Attention() {
  const mayIssues = useMay('issues:read');
  const mayRoutes = useMay('routes:read');
  const mayDestinations = useMay('destinations:read');
  const issues = useAsk('listIssues', { state: 'open', pageSize: MOST }, { enabled: mayIssues, every: AGAIN_MS });
  const options = { enabled: mayRoutes, every: AGAIN_MS };
  const open = useAsk('listRoutes', { circuitState: 'open', pageSize: MOST }, options);
  const halfOpen = useAsk('listRoutes', { circuitState: 'half_open', pageSize: MOST }, options);
  const routes = useAll('listRoutes', mayRoutes, RATES_AGAIN_MS);
  const destinations = useAll('listDestinations', mayDestinations, RATES_AGAIN_MS);
  const answers = [issues, open, halfOpen, routes, destinations].filter(
    ({ fetchStatus, data }) => data || fetchStatus !== 'idle',
  );
  const circuits = [...(open.data?.data ?? []), ...(halfOpen.data?.data ?? [])];
  const isKnown = ({ id }: { id: string }) => circuits.some((one) => one.id === id);
  const pausedRoutes = (routes.data?.records ?? []).filter((route) => route.paused && !isKnown(route));
  const paused = (destinations.data?.records ?? []).filter((destination) => destination.paused);
  // What an issue or a circuit breaker says already is not said again.
  const known = new Set((issues.data?.data ?? []).map(({ destinationId }) => destinationId));
  const isNew = ({ kind, routeId }: Issue) => kind !== 'circuit_open' || !circuits.some(({ id }) => id === routeId);
  const shownIssues = (issues.data?.data ?? []).filter(isNew);
  const failing = (destinations.data?.records ?? [])
    .filter((one): one is Rated => isFailing(one) && !known.has(one.id))
    .toSorted((a, b) => a.successRate - b.successRate);
  const totals = {
    issues: (issues.data?.pagination.total ?? 0) - (issues.data?.data.length ?? 0) + shownIssues.length,
    circuits: (open.data?.pagination.total ?? 0) + (halfOpen.data?.pagination.total ?? 0),
    paused: pausedRoutes.length + paused.length,
    failing: failing.length,
  };
  const total = totals.issues + totals.circuits + totals.paused + totals.failing;
  const failed = answers.filter(({ error }) => error !== null);
  const isLoading = failed.length === 0 && answers.some(({ data }) => data === undefined);
  return (
    <Card title={total === 0 ? 'Needs attention' : `Needs attention (${countText(total)})`} isFlush>
      {failed.map(({ error, refetch }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are told by their place
        <Failed key={index} error={error} again={() => void refetch()} />
      ))}
      {isLoading && (
        <div className="line-row">
          <div className="grow">
            <Loading lines={1} />
          </div>
        </div>
      )}
      {!isLoading && failed.length === 0 && total === 0 && (
        <Line tone="ok">All clear: no open issues, held deliveries or failing destinations.</Line>
      )}
      {shownIssues.map((issue) => (
        <Line key={issue.id} tone="bad" action={['Investigate', `/issues/${issue.id}`]}>
          <Link to={`/issues/${issue.id}`}>{plain(titleOf(issue))}</Link>{' '}
          <bdi className="quiet">{plain(placeOf(issue))}</bdi>{' '}
          <span className="quiet">
            · {occurrencesOf(issue)}, last <Time at={issue.lastSeenAt} />
          </span>
        </Line>
      ))}
      {[...circuits, ...pausedRoutes.slice(0, MOST)].map((route) => (
        <Line key={route.id} tone="warn">
          <Holds route={route} isCounted />
        </Line>
      ))}
      {paused.slice(0, MOST).map((destination) => (
        <Line key={destination.id} tone="warn">
          <Holds destination={destination} isCounted />
        </Line>
      ))}
      {failing.slice(0, MOST).map(({ id, name, successRate }) => (
        <Line
          key={id}
          tone={successRate < FAILING_BELOW ? 'bad' : 'warn'}
          action={['View destination', `/destinations/${id}`]}
        >
          <Name id={id} name={name} /> <span className="quiet">success rate {successRate}%</span>
        </Line>
      ))}
      <More
        shown={shownIssues.length}
        total={totals.issues}
        to="/issues"
        search={{ state: 'open' }}
        what="open issue"
      />
      <More shown={circuits.length} total={totals.circuits} to="/routes" search={{}} what="open circuit breaker" />
      <More
        shown={Math.min(MOST, pausedRoutes.length) + Math.min(MOST, paused.length)}
        total={totals.paused}
        to="/routes"
        search={{}}
        what="pause"
      />
      <More shown={MOST} total={totals.failing} to="/destinations" search={{}} what="failing destination" />
    </Card>
  );
}

interface LineProps {
  tone: Tone;
  action?: [label: string, to: string];
  children: ReactNode;
}

function Line({ tone, action, children }: LineProps) {
  const navigate = useNavigate();
  return (
    <div className="line-row prose">
      <Dot tone={tone} />
      <div className="grow">
        <Suspense fallback={<Loading lines={1} />}>{children}</Suspense>
      </div>
      {action && (
        <Button variant="default" onClick={() => void navigate({ to: action[1] })}>
          {action[0]}
        </Button>
      )}
    </div>
  );
}

interface MoreProps {
  shown: number;
  total: number;
  to: string;
  search: Record<string, string>;
  what: string;
}

function More({ shown, total, to, search, what }: MoreProps) {
  if (total <= shown) return null;
  return (
    <div className="line-row">
      <Link to={to} search={search as never}>
        View all {plural(total, what)}
      </Link>
    </div>
  );
}
