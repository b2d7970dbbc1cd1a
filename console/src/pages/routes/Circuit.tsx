// The circuit breaker of a route: its state with a countdown, what it holds, and a way to close it now.
import { Progress } from '@mantine/core';
import type { CircuitStatus, Route } from '@hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { useAsk, WATCH_MS } from '../../api/queries.ts';
import { Loaded } from '../../components/Failed.tsx';
import { CloseCircuit, HeldCount, NextTry } from '../../components/Pausing.tsx';
import { Callout, Card, Status } from '../../components/ui.tsx';
import { durationText, plural } from '../../format.ts';
import { Time, useNow } from '../../zone.tsx';

export function Circuit({ route }: { route: Route }) {
  const answer = useAsk('getCircuitStatus', { id: route.id }, { every: WATCH_MS });
  const state = answer.data?.circuitState;
  return (
    <Card
      title="Circuit breaker"
      actions={
        <>
          {state && <Status of={state} />}
          <CloseCircuit of={route} />
        </>
      }
    >
      <Loaded answer={answer}>{(status) => <Shown route={route} status={status} />}</Loaded>
    </Card>
  );
}

function Shown({ route, status }: { route: Route; status: CircuitStatus }) {
  const mayCount = useMay('deliveries:read');
  const { circuitState, failureThreshold, cooldownSeconds, probeSuccessThreshold, paused } = status;
  const isClosed = circuitState === 'closed';
  const untilThen =
    route.failoverDestinationIds.length > 0 ? 'Until then, deliveries fail over.' : 'Until then, deliveries are held.';
  return (
    <div className="stack">
      {isClosed && (
        <p>
          {status.failureCount} of {plural(failureThreshold, 'consecutive failure')}{' '}
          <span className="quiet">· then opens for {durationText(cooldownSeconds * 1000)}</span>
        </p>
      )}
      {!isClosed && paused && (
        <Callout tone="warn" title="Route paused">
          The circuit breaker stays {circuitState.replace('_', ' ')} until the route is resumed.
        </Callout>
      )}
      {circuitState === 'open' && !paused && (
        <Callout tone="bad" title="Circuit breaker open">
          {status.openedAt && <Countdown openedAt={status.openedAt} status={status} />}
          {`The circuit breaker closes after ${plural(probeSuccessThreshold, 'successful probe')}. ${untilThen}`}
        </Callout>
      )}
      {circuitState === 'half_open' && !paused && (
        <Callout tone="warn" title="Probing the destination">
          {`${status.probeSuccessCount} of ${plural(probeSuccessThreshold, 'successful probe')}. A failure opens the circuit breaker for another ${durationText(cooldownSeconds * 1000)}.`}
        </Callout>
      )}
      <div className="row row-loose quiet">
        <span>
          Last failure <Time at={status.lastFailureAt} />
        </span>
        <span>
          Last success <Time at={status.lastSuccessAt} />
        </span>
        {(!isClosed || paused) && mayCount && <HeldCount kind="route" of={route} />}
      </div>
    </div>
  );
}

function Countdown({ openedAt, status }: { openedAt: string; status: CircuitStatus }) {
  const cooldownMs = status.cooldownSeconds * 1000;
  const passedMs = useNow() - Date.parse(openedAt);
  const share = cooldownMs === 0 ? 100 : (100 * passedMs) / cooldownMs;
  return (
    <>
      <div className="row row-between">
        <span>
          Opened <Time at={openedAt} />
        </span>
        <strong>
          <NextTry of={status} />
        </strong>
      </div>
      <Progress value={Math.min(100, Math.max(0, share))} aria-label="Elapsed cooldown" my={6} />
    </>
  );
}
