// The circuit of a route: its state, how long it stays so, what it holds, and a way to close it now.
import { Alert, Group, Progress, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { CircuitStatus, Route } from 'hookyard/client';
import { useEffect, useState } from 'react';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { useAsk } from '../../api/queries.ts';
import { Count } from '../../components/Count.tsx';
import { ConfirmedAction } from '../../components/ConfirmedAction.tsx';
import { Loaded } from '../../components/Loaded.tsx';
import { Status } from '../../components/Status.tsx';
import { durationText } from '../../format.ts';
import { Time } from '../../zone.tsx';

const AGAIN_MS = 2000;

export function Circuit({ route }: { route: Route }) {
  const answer = useAsk('getCircuitStatus', { id: route.id }, { every: AGAIN_MS });
  return (
    <section aria-label="Circuit">
      <h2>Circuit</h2>
      <Loaded answer={answer}>{(status) => <Shown route={route} status={status} />}</Loaded>
    </section>
  );
}

function Shown({ route, status }: { route: Route; status: CircuitStatus }) {
  const mayWrite = useMay('routes:write');
  const mayCount = useMay('deliveries:read');
  const { circuitState } = status;
  const held = (
    <Count
      list="listDeliveries"
      input={{ routeId: route.id, status: 'circuit_open' }}
      one="delivery that it holds"
      many="deliveries that it holds"
    />
  );
  return (
    <>
      <Text size="sm" className="quiet">
        After {status.failureThreshold} failed {status.failureThreshold === 1 ? 'attempt' : 'attempts in a row'} the
        route sends nothing for {durationText(status.cooldownSeconds * 1000)} (its circuit is open), so that what is
        broken is left alone.
      </Text>
      <Group gap="md">
        <Status of={circuitState} />
        {circuitState === 'closed' && (
          <Text>
            {status.failureCount} of {status.failureThreshold} failed attempts in a row
          </Text>
        )}
        {status.lastFailureAt && (
          <Text>
            Last failure <Time at={status.lastFailureAt} />
          </Text>
        )}
        {status.lastSuccessAt && (
          <Text>
            Last success <Time at={status.lastSuccessAt} />
          </Text>
        )}
      </Group>
      {status.paused && circuitState !== 'closed' && (
        <Text>The route is paused: its circuit stays as it is, and nothing is tried.</Text>
      )}
      {circuitState === 'open' && !status.paused && (
        <Alert color="orange" title="Nothing is sent to its destinations now" my="xs">
          {status.openedAt && <Clock openedAt={status.openedAt} cooldownMs={status.cooldownSeconds * 1000} />}
          <Text size="sm">
            Then it is half open: one delivery at a time is tried, and {status.probeSuccessThreshold} that succeed close
            it.{' '}
            {route.failoverDestinationIds.length > 0
              ? 'Deliveries go to the failover destinations meanwhile.'
              : 'Deliveries wait meanwhile.'}
          </Text>
        </Alert>
      )}
      {circuitState === 'half_open' && !status.paused && (
        <Alert color="orange" title="It tries whether the destination works again" my="xs">
          {status.probeSuccessCount} of {status.probeSuccessThreshold} probes have succeeded. One that fails opens it
          again, for {durationText(status.cooldownSeconds * 1000)}.
        </Alert>
      )}
      {(circuitState !== 'closed' || status.paused) && (
        <Group gap="xs" mt="xs">
          {mayCount && (
            <Link to="/deliveries" search={{ routeId: route.id, status: 'circuit_open', range: 'all' } as never}>
              {held}
            </Link>
          )}
          {mayWrite && circuitState !== 'closed' && (
            <ConfirmedAction
              label="Let deliveries through now"
              verb="Let them through"
              variant="filled"
              run={async () => {
                await call('resetCircuit', { id: route.id });
                return 'The circuit is closed: deliveries go out again';
              }}
            >
              <Text mb="xs">
                The circuit closes, and what waits goes out in the order of receipt, at a steady rate
                {mayCount && <>: {held}</>}.
              </Text>
              <Text>
                If the destination still fails, {status.failureThreshold} failed attempts in a row open it again.
              </Text>
            </ConfirmedAction>
          )}
        </Group>
      )}
    </>
  );
}

function Clock({ openedAt, cooldownMs }: { openedAt: string; cooldownMs: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const leftMs = Math.max(0, Date.parse(openedAt) + cooldownMs - now);
  const share = cooldownMs === 0 ? 100 : 100 - (100 * leftMs) / cooldownMs;
  return (
    <>
      <Text size="sm">
        Open since <Time at={openedAt} />.{' '}
        {leftMs > 0 ? `It stays so for ${durationText(leftMs)} more.` : 'Its time is over: it becomes half open.'}
      </Text>
      <Progress
        value={Math.min(100, Math.max(0, share))}
        aria-label="How much of its time is over"
        my={6}
        transitionDuration={0}
      />
    </>
  );
}
