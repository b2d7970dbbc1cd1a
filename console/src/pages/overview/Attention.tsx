// What needs somebody, one line each with one action: open issues, what holds deliveries, failed deliveries that were
// not replayed.
import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useAll } from '../../api/lists.ts';
import { useMay } from '../../api/caller.tsx';
import { AGAIN_MS, useAsk } from '../../api/queries.ts';
import { Failed, Loading } from '../../components/Failed.tsx';
import { Card, Dot, Name, PageLink, Status, type Tone } from '../../components/ui.tsx';
import { countText, plain, plural, type Total } from '../../format.ts';
import { placeOf, titleOf } from '../../words.ts';
import { Time } from '../../zone.tsx';
import { FailedLink, notReplayed, ReplayFailed } from '../deliveries/ReplayFailed.tsx';

// With their dialogs: most overviews have none.
const Holds = lazy(async () => ({ default: (await import('../../components/Pausing.tsx')).Holds }));
const RATES_AGAIN_MS = 60_000;
/** Of each kind. */
const MOST = 5;
/** Failed deliveries that are looked at for their destinations. */
const MOST_FAILED = 100;

/** All that needs somebody. What an issue or a circuit breaker says already is not said again. */
export function useAttention() {
  const ofIssues = { scope: 'issues:read', every: AGAIN_MS } as const;
  const issues = useAsk('listIssues', { state: 'open', pageSize: MOST }, ofIssues);
  const ofRoutes = { scope: 'routes:read', every: AGAIN_MS } as const;
  const open = useAsk('listRoutes', { circuitState: 'open', pageSize: MOST }, ofRoutes);
  const halfOpen = useAsk('listRoutes', { circuitState: 'half_open', pageSize: MOST }, ofRoutes);
  const routes = useAll('listRoutes', true, { every: RATES_AGAIN_MS, scope: 'routes:read' });
  const destinations = useAll('listDestinations', true, { every: RATES_AGAIN_MS, scope: 'destinations:read' });
  const ofDeliveries = { scope: 'deliveries:read', every: AGAIN_MS } as const;
  const failedOnes = { ...notReplayed(), pageSize: MOST_FAILED };
  const failures = useAsk('listDeliveries', failedOnes, { ...ofDeliveries, keep: true });
  const waiting = useAsk('listDeliveries', { status: 'circuit_open', pageSize: 1 }, ofDeliveries);
  const all = [issues, open, halfOpen, routes, destinations, failures, waiting];
  const answers = all.filter(({ fetchStatus, data }) => data || fetchStatus !== 'idle');
  const circuits = [...(open.data?.data ?? []), ...(halfOpen.data?.data ?? [])];
  const isOfCircuit = (id: string | null) => circuits.some((route) => route.id === id);
  const allIssues = issues.data?.data ?? [];
  const shownIssues = allIssues.filter(({ kind, routeId }) => kind !== 'circuit_open' || !isOfCircuit(routeId));
  const known = new Set(allIssues.map(({ destinationId }) => destinationId));
  const toReplay = (failures.data?.data ?? []).filter(
    ({ destination: { id, name } }) => name !== null && !known.has(id),
  );
  const lost = [...Map.groupBy(toReplay, ({ destination }) => destination.id).values()].flatMap((same) =>
    same[0] ? [{ ...same[0].destination, count: same.length }] : [],
  );
  const pausedRoutes = (routes.data?.records ?? []).filter(({ id, paused }) => paused && !isOfCircuit(id));
  const paused = (destinations.data?.records ?? []).filter((destination) => destination.paused);
  const totalOf = ({ data }: { data: { pagination: Total } | undefined }) => data?.pagination.total ?? 0;
  const totals = {
    issues: totalOf(issues) - allIssues.length + shownIssues.length,
    circuits: totalOf(open) + totalOf(halfOpen),
    /** Those too about which there is an issue. */
    failures: totalOf(failures),
  };
  const notDelivering = totals.circuits + pausedRoutes.length + paused.length;
  const total = totals.issues + notDelivering + lost.length;
  const held = totalOf(waiting);
  const hasMore = totals.failures > MOST_FAILED;
  /** False for a key that may not read all of it. */
  const isKnown = all.every(({ data }) => data !== undefined);
  return {
    openIssues: totalOf(issues),
    ...{ shownIssues, circuits, pausedRoutes, paused, lost, totals, held, notDelivering, total, isKnown },
    failed: answers.filter(({ error }) => error !== null),
    /** No more than the first page of failures is read. */
    hasMore,
    isClear: isKnown && total === 0 && held === 0 && !hasMore,
    /** For the first time. */
    isLoading: answers.some(({ isFetched }) => !isFetched),
    isAnswered: answers.every(({ data }) => data !== undefined),
  };
}

type Needs = ReturnType<typeof useAttention>;

/** Is everything fine? Beside the title of the page. */
export function State({ of: needs }: { of: Needs }) {
  const { openIssues, notDelivering, lost, hasMore, held, isClear, isAnswered, failed } = needs;
  if (!isAnswered || failed.length > 0) return null;
  const toReplay = lost.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      {openIssues > 0 && <Status of="open" label={plural(openIssues, 'open issue')} />}
      {held > 0 && <Status of="circuit_open" label={`${plural(held, 'delivery')} held`} />}
      {held === 0 && notDelivering > 0 && (
        <Status
          of="paused"
          label={`${countText(notDelivering)} ${notDelivering === 1 ? 'route or destination' : 'routes or destinations'} not delivering`}
        />
      )}
      {toReplay > 0 && (
        <Status
          of="failed"
          label={`${plural(toReplay, 'failed delivery', `${toReplay}${hasMore ? '+' : ''}`)} not replayed`}
        />
      )}
      {isClear && <Status of="ok" label="All clear" />}
    </>
  );
}

export function Attention({ of: needs }: { of: Needs }) {
  const [replaying, setReplaying] = useState<string | null>(null);
  const mayReplay = useMay('deliveries:write');
  const navigate = useNavigate();
  const { shownIssues, circuits, pausedRoutes, paused, lost, totals, total, failed } = needs;
  const { isLoading, isAnswered, isKnown, isClear, hasMore } = needs;
  // Issues hide other lines, so no line is shown, and clicked, before all answers are there.
  if (isLoading)
    return (
      <Card title="Needs attention" isFlush>
        <div className="line-row">
          <div className="grow">
            <Loading lines={1} />
          </div>
        </div>
      </Card>
    );
  return (
    <Card title={total === 0 ? 'Needs attention' : `Needs attention (${countText(total)})`} isFlush>
      {failed.map(({ error, refetch }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are told by their place
        <Failed key={index} error={error} again={() => void refetch()} />
      ))}
      {isAnswered && failed.length === 0 && total === 0 && !(isKnown && hasMore) && (
        <Line tone={isClear ? 'ok' : 'info'}>
          {isClear
            ? 'All clear: no open issues or held deliveries, and no failed deliveries from the last 24 hours to replay.'
            : isKnown
              ? 'Held deliveries are being sent.'
              : 'Nothing found, but your API key lacks the scopes for some checks.'}
        </Line>
      )}
      {shownIssues.map((issue) => (
        <Line key={issue.id} tone="bad" action={['Investigate', () => void navigate({ to: `/issues/${issue.id}` })]}>
          <Link to={`/issues/${issue.id}`}>{plain(titleOf(issue))}</Link>{' '}
          <bdi className="quiet">{plain(placeOf(issue))}</bdi>{' '}
          <span className="quiet">
            · last failure <Time at={issue.lastSeenAt} />
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
      {lost.slice(0, MOST).map(({ id, name, count }) => (
        <Line key={id} tone="warn" action={mayReplay && ['Replay', () => setReplaying(id)]}>
          <FailedLink
            destinationId={id}
            text={plural(count, 'failed delivery', `${countText(count)}${hasMore ? '+' : ''}`)}
          />{' '}
          not replayed: <Name id={id} name={name} />
        </Line>
      ))}
      <More
        shown={shownIssues.length}
        total={totals.issues}
        to="/issues"
        search={{ state: 'open' }}
        what="open issue"
      />
      <More shown={circuits.length} total={totals.circuits} to="/routes" what="open circuit breaker" />
      <More shown={MOST} total={pausedRoutes.length} to="/routes" what="paused route" />
      <More shown={MOST} total={paused.length} to="/destinations" what="paused destination" />
      <More
        shown={hasMore || lost.length > MOST ? 0 : totals.failures}
        total={totals.failures}
        to="/deliveries"
        search={{ status: 'failed', replayed: 'false', range: '24h' }}
        what="failed delivery"
      />
      {replaying !== null && <ReplayFailed destinationId={replaying} onClose={() => setReplaying(null)} />}
    </Card>
  );
}

interface LineProps {
  tone: Tone;
  action?: false | [label: string, run: () => void];
  children: ReactNode;
}

function Line({ tone, action, children }: LineProps) {
  return (
    <div className="line-row prose">
      <Dot tone={tone} />
      <div className="grow">
        <Suspense fallback={<Loading lines={1} />}>{children}</Suspense>
      </div>
      {action && (
        <Button variant="default" onClick={action[1]}>
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
  search?: Record<string, string>;
  what: string;
}

function More({ shown, total, to, search = {}, what }: MoreProps) {
  if (total <= shown) return null;
  return (
    <div className="line-row">
      <PageLink to={to} search={search}>
        View all {plural(total, what)}
      </PageLink>
    </div>
  );
}
