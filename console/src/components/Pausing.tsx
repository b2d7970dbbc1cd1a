// What holds deliveries: the pause of a route or destination, begun with a reason and an end, and the circuit breaker
// of a route. Each says why it holds, and what resumes the deliveries.
import { NumberInput, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import type { CircuitStatus, Route } from '@hookyard/client';
import { useEffect, useState } from 'react';
import { useMay } from '../api/caller.tsx';
import { call } from '../api/client.ts';
import { operationOf, AGAIN_MS, ask, askAgain, queryClient, useAsk } from '../api/queries.ts';
import { durationText, plain, plural, sentence, timeText, type Total, totalText, zoneName } from '../format.ts';
import { Time, useNow, useZone } from '../zone.tsx';
import { Confirm, ConfirmedAction } from './actions.tsx';
import { CountLink } from './Count.tsx';
import { Failed } from './Failed.tsx';
import { Callout, Name } from './ui.tsx';

const MOST_PER_SECOND = 10_000;
const MOST_ROUTES = 100;
/** How long it is said that a circuit breaker closed. */
const CLOSED_SHOWN_MS = 15_000;
/** Destinations of a route that are counted one by one. */
const MOST_COUNTED = 5;

type Kind = 'route' | 'destination';

const placeOf = (kind: Kind, id: string) => (kind === 'route' ? { routeId: id } : { destinationId: id });
const heldAt = (kind: Kind, id: string) => ({ ...placeOf(kind, id), status: 'circuit_open' as const });

const resumedText = (what: string) => (held: Total | null) =>
  held && held.total > 0 ? `${what}. ${plural(held.total, 'held delivery', totalText(held))} resumed.` : what;

export function Pause({ kind, id }: { kind: Kind; id: string }) {
  const { zone } = useZone();
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState('');
  const pause = async () => {
    const body = {
      ...(reason.trim() !== '' && { reason: reason.trim() }),
      // Without a zone a browser reads it as local.
      ...(until !== '' && { until: new Date(zone === 'utc' ? `${until}Z` : until).toISOString() }),
    };
    return call(operationOf('pause', kind), { id, body });
  };
  return (
    <Confirm title={`Pause ${kind}`} run={pause} said={`${sentence(kind)} paused`}>
      <p>
        Webhooks are still accepted. Deliveries {kind === 'route' ? 'from this route' : 'to this destination'} are held
        until it is resumed. Attempts in flight are not interrupted.
      </p>
      <TextInput
        label="Reason"
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <TextInput
        type="datetime-local"
        label={`Resume at (${zoneName(zone)})`}
        description="Leave empty to resume manually."
        value={until}
        onChange={(event) => setUntil(event.currentTarget.value)}
      />
    </Confirm>
  );
}

interface ResumeProps {
  kind: Kind;
  of: { id: string; paused: boolean };
  variant?: 'filled' | 'default';
}

/** A button, while it is paused. */
export function Resume({ kind, of: { id, paused }, variant = 'filled' }: ResumeProps) {
  const mayWrite = useMay(`${kind}s:write`);
  const [rate, setRate] = useState<number | string>('');
  if (!paused || !mayWrite) return null;
  const body = typeof rate === 'number' ? { releasePerSecond: rate } : {};
  return (
    <ConfirmedAction
      label="Resume"
      title={`Resume ${kind}`}
      variant={variant}
      run={async () => {
        // Uncounted with a key that may not read deliveries.
        const held = await call('listDeliveries', { ...heldAt(kind, id), pageSize: 1 }).catch(() => null);
        await call(operationOf('resume', kind), { id, body });
        return held?.pagination ?? null;
      }}
      said={resumedText(`${sentence(kind)} resumed`)}
    >
      <p>
        Held deliveries are sent in order of receipt, with the destination's current URL and settings, unless another
        pause or a circuit breaker still holds them.
      </p>
      <NumberInput
        label="Rate limit (per second)"
        placeholder="50"
        description="Leave empty for the default (50)."
        min={1}
        max={MOST_PER_SECOND}
        allowDecimal={false}
        value={rate}
        onChange={setRate}
      />
    </ConfirmedAction>
  );
}

/** When an open circuit breaker tries the destination again by itself. */
export function NextTry({ of: status }: { of: CircuitStatus }) {
  const { zone } = useZone();
  const now = useNow();
  const { circuitState, openedAt, cooldownSeconds, probeSuccessCount, probeSuccessThreshold } = status;
  if (circuitState === 'half_open')
    return `${probeSuccessCount} of ${plural(probeSuccessThreshold, 'successful probe')} so far`;
  const at = Date.parse(openedAt ?? '') + cooldownSeconds * 1000;
  const left = Math.ceil((at - now) / 1000);
  if (!(left > 0)) return 'Next probe now, or with the next delivery';
  return `Next probe in ${left < 120 ? `${left} s` : durationText(left * 1000)} (${timeText(at, zone).slice(11)})`;
}

/** The answers are those of `watch`. */
function StoredNextTry({ id, before = '' }: { id: string; before?: string }) {
  const { data } = useAsk('getCircuitStatus', { id });
  if (!data || data.circuitState === 'closed' || data.paused) return null;
  return (
    <>
      {before}
      <NextTry of={data} />
    </>
  );
}

/** By the id of their routes: those that were closed on this page. */
const closedHere = new Set<string>();

/** What was seen of a circuit breaker. */
interface Seen {
  status: CircuitStatus;
  /** Since it was open: when it opened, and what it held. */
  openedAt: string | null;
  held: Total | null;
}

/** Looks at a circuit breaker, once for all rows that show it; says when it has closed, and why. */
const watch = ({ id, name }: Route, mayCount: boolean) =>
  queryOptions({
    queryKey: ['circuit', id],
    refetchInterval: AGAIN_MS / 2,
    // Not asked for again by what it tells.
    staleTime: 'static',
    // What closed before the first look is not told: what shows it then may be old.
    gcTime: 0,
    queryFn: async (): Promise<Seen> => {
      const before = queryClient.getQueryData<Seen>(['circuit', id]);
      const [status, waiting] = await Promise.all([
        // Not a query of its own: that would be cancelled with the last row that shows it.
        call('getCircuitStatus', { id }).then((answer) => {
          queryClient.setQueryData(ask('getCircuitStatus', { id }).queryKey, answer);
          return answer;
        }),
        mayCount ? call('listDeliveries', { ...heldAt('route', id), pageSize: 1 }).catch(() => null) : null,
      ]);
      const { openedAt = null, held = null } = before ?? {};
      const isClosed = status.circuitState === 'closed';
      if (isClosed && before && before.status.circuitState !== 'closed') {
        // A retry cannot succeed before the cooldown has passed; who closes it by hand elsewhere rarely waits for that.
        const retriedAt = Date.parse(openedAt ?? '') + status.cooldownSeconds * 1000;
        const isRetried = !closedHere.delete(id) && Date.parse(status.lastSuccessAt ?? '') >= retriedAt;
        const closed = `Circuit breaker closed for route ${plain(name)}${isRetried ? ` after ${plural(status.probeSuccessThreshold, 'successful probe')}` : ''}`;
        const some = held?.total === 0 ? closed : `${closed}. Held deliveries resumed.`;
        const resumed = isRetried ? some : resumedText(closed)(held);
        const message = status.paused ? `${closed}. The route is still paused.` : resumed;
        notifications.show({ message, autoClose: CLOSED_SHOWN_MS });
        void askAgain();
      }
      // It was closed here, and has opened again since.
      const isNewOpening = before === undefined || (openedAt !== null && status.openedAt !== openedAt);
      if (status.openedAt && !isClosed && isNewOpening) closedHere.delete(id);
      return {
        status,
        openedAt: status.openedAt ?? openedAt,
        held: isClosed ? held : (waiting?.pagination ?? held),
      };
    },
  });

/** While a circuit breaker is not closed, and once afterwards. */
function Watch({ of: route, mayCount }: { of: Route; mayCount: boolean }) {
  const seen = watch(route, mayCount);
  useQuery(seen);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it looks once more when it is no longer shown
  useEffect(
    () => () => {
      const look = () => queryClient.fetchQuery({ ...seen, staleTime: 0 }).catch(() => null);
      // A look that has begun may have seen it open.
      const hasBegun = queryClient.isFetching({ queryKey: seen.queryKey }) > 0;
      void look().then(() => (hasBegun ? look() : null));
    },
    [route.id],
  );
  return null;
}

interface CircuitProps {
  of: Route;
  variant?: 'filled' | 'default';
}

/** A button, while the circuit breaker of a route is not closed. */
export function CloseCircuit({ of: route, variant = 'filled' }: CircuitProps) {
  const { id, circuitState, circuitFailureThreshold } = route;
  const mayWrite = useMay('routes:write');
  const mayCount = useMay('deliveries:read');
  const isClosed = circuitState === 'closed';
  if (isClosed) return null;
  const watched = <Watch key={id} of={route} mayCount={mayCount} />;
  if (!mayWrite) return watched;
  return (
    <>
      {watched}
      <ConfirmedAction
        label="Resume deliveries"
        variant={variant}
        run={async () => {
          const reset = await call('resetCircuit', { id });
          closedHere.add(id);
          return reset;
        }}
      >
        <p>
          {mayCount && (
            <>
              <HeldCount kind="route" of={route} /> from route <Name id={id} name={route.name} />.{' '}
            </>
          )}
          Closes the circuit breaker now instead of waiting for successful probes.
        </p>
        <p>
          Held deliveries are sent in order of receipt, at a steady rate, with the destination's current URL and
          settings, unless a pause still holds them.{' '}
          {`After ${circuitFailureThreshold === 1 ? 'the next failure' : plural(circuitFailureThreshold, 'consecutive failure')}, the circuit breaker opens again.`}
        </p>
        <p className="quiet">
          <StoredNextTry id={id} />
        </p>
      </ConfirmedAction>
    </>
  );
}

/** Lists of destinations lack the last two. */
type MayBePaused = Pick<Route, 'id' | 'name' | 'paused'> & Partial<Pick<Route, 'pausedSince' | 'pauseReason'>>;

interface CountProps {
  kind: Kind;
  of: { id: string; destinations?: Route['destinations'] };
}

/** `31 held deliveries (25 to Billing sync, 6 to Search index)` */
export function HeldCount({ kind, of: { id, destinations = [] } }: CountProps) {
  const isSplit = destinations.length > 1 && destinations.length <= MOST_COUNTED;
  const counts = useQueries({
    queries: (isSplit ? destinations : []).map((destination) => ({
      ...ask('listDeliveries', { ...heldAt(kind, id), destinationId: destination.id, pageSize: 1 }),
      refetchInterval: AGAIN_MS,
    })),
  });
  const parts = counts.flatMap(({ data }, index) =>
    data && data.pagination.total > 0
      ? [{ count: totalText(data.pagination), name: plain(destinations[index]?.name ?? '') }]
      : [],
  );
  const text = parts.map(({ count, name }) => `${parts.length === 1 ? '' : `${count} `}to ${name}`).join(', ');
  return (
    <span>
      <CountLink list="listDeliveries" input={heldAt(kind, id)} one="held delivery" />
      {text !== '' && <bdi> ({text})</bdi>}
    </span>
  );
}

interface HeldProps {
  route?: Route | undefined;
  destination?: MayBePaused | undefined;
  /** Beside the action. */
  isCounted?: boolean;
}

/** What holds deliveries at a route or destination, one line each with its action; none where nothing holds them. */
export function Holds({ route, destination, isCounted = false }: HeldProps) {
  const mayCount = useMay('deliveries:read') && isCounted;
  const paused = [['route', route] as const, ['destination', destination] as const].flatMap(([kind, of]) =>
    of?.paused ? [{ kind, of }] : [],
  );
  const count = (kind: Kind, of: MayBePaused | Route) =>
    mayCount && (
      <span className="quiet">
        · <HeldCount kind={kind} of={of} />
      </span>
    );
  return (
    <>
      {paused.map(({ kind, of }) => (
        <div key={kind} className="hold">
          <span className="grow">
            {sentence(kind)} <Name id={of.id} name={of.name} /> paused {of.pausedSince && <Time at={of.pausedSince} />}
            {of.pauseReason && <bdi>: {plain(of.pauseReason)}</bdi>} {count(kind, of)}
          </span>
          <Resume kind={kind} of={of} variant="default" />
        </div>
      ))}
      {route && route.circuitState !== 'closed' && (
        <div className="hold">
          <span className="grow">
            Circuit breaker {route.circuitState.replace('_', ' ')} for route <Name id={route.id} name={route.name} />{' '}
            <span className="quiet">
              <StoredNextTry id={route.id} before="· " />
            </span>{' '}
            {count('route', route)}
          </span>
          <CloseCircuit of={route} variant="default" />
        </div>
      )}
    </>
  );
}

interface HeldByProps {
  /** One route; without it those of the destination, or all. */
  routeId?: string | undefined;
  destinationId?: string | undefined;
  /** Leaves out whether the destination is paused. */
  isOfRoutes?: boolean;
}

/** The routes that hold deliveries, and the destination if it is paused. */
export function HeldBy({ routeId, destinationId, isOfRoutes = false }: HeldByProps) {
  const list = (circuitState?: 'open' | 'half_open') => ({ destinationId, circuitState, pageSize: MOST_ROUTES });
  const ofRoutes = { scope: 'routes:read', every: AGAIN_MS } as const;
  const options = { ...ofRoutes, enabled: routeId === undefined };
  // Pauses are among the routes themselves, circuit breakers can be asked for.
  const lists = [
    useAsk('listRoutes', list('open'), options),
    useAsk('listRoutes', list('half_open'), options),
    useAsk('listRoutes', list(), options),
  ];
  const one = useAsk('getRoute', { id: routeId ?? '' }, { ...ofRoutes, enabled: routeId !== undefined });
  const destination = useAsk(
    'getDestination',
    { id: destinationId ?? '' },
    { enabled: destinationId !== undefined && !isOfRoutes, scope: 'destinations:read', every: AGAIN_MS },
  );
  const failed = [...lists, one, destination].find(({ error }) => error !== null);
  if (failed) return <Failed error={failed.error} again={() => void failed.refetch()} />;
  const found = [...lists.flatMap(({ data }) => data?.data ?? []), ...(one.data ? [one.data] : [])];
  const holding = found.filter(({ circuitState, paused }) => circuitState !== 'closed' || paused);
  const routes = [...new Map(holding.map((route) => [route.id, route])).values()];
  const isPaused = destination.data?.paused === true;
  if (routes.length === 0 && !isPaused) return null;
  const holders = [routes.length > 0 && plural(routes.length, 'route'), isPaused && 'the destination'];
  const verb = routes.length + Number(isPaused) === 1 ? 'is' : 'are';
  return (
    <Callout tone="warn" title={`${sentence(holders.filter(Boolean).join(' and '))} ${verb} holding deliveries`}>
      <Holds destination={destination.data} isCounted />
      {routes.map((route) => (
        <Holds key={route.id} route={route} isCounted />
      ))}
    </Callout>
  );
}
