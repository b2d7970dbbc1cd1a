// What holds deliveries: the pause of a route or destination, begun with a reason and an end, and the circuit breaker
// of a route. Each says why it holds, and what releases the deliveries.
import { NumberInput, TextInput } from '@mantine/core';
import type { Route } from '@hookyard/client';
import { useState } from 'react';
import { useMay } from '../api/caller.tsx';
import { call } from '../api/client.ts';
import { plain, plural, sentence, type Total, totalText, zoneName } from '../format.ts';
import { Time, useZone } from '../zone.tsx';
import { Confirm, ConfirmedAction } from './actions.tsx';
import { CountLink } from './Count.tsx';
import { Callout, Name } from './ui.tsx';

const MOST_PER_SECOND = 10_000;

type Kind = 'route' | 'destination';

const heldAt = (kind: Kind, id: string) => ({
  ...(kind === 'route' ? { routeId: id } : { destinationId: id }),
  status: 'circuit_open' as const,
});

/** Counts what is held, then releases it. A key that may not read deliveries releases them uncounted. */
async function release(kind: Kind, id: string, run: () => Promise<unknown>): Promise<Total | null> {
  const held = await call('listDeliveries', { ...heldAt(kind, id), pageSize: 1 }).catch(() => null);
  await run();
  return held?.pagination ?? null;
}

const releasedText = (what: string) => (held: Total | null) =>
  held === null
    ? what
    : `${what}. ${held.total === 0 ? 'No deliveries were held' : `Sending ${plural(held.total, 'held delivery', totalText(held))}`}`;

interface PauseProps {
  kind: Kind;
  id: string;
  onClose: () => void;
}

export function Pause({ kind, id, onClose }: PauseProps) {
  const { zone } = useZone();
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState('');
  const pause = (): Promise<unknown> => {
    const body = {
      ...(reason.trim() !== '' && { reason: reason.trim() }),
      // Without a zone a browser reads it as local.
      ...(until !== '' && { until: new Date(zone === 'utc' ? `${until}Z` : until).toISOString() }),
    };
    return kind === 'route' ? call('pauseRoute', { id, body }) : call('pauseDestination', { id, body });
  };
  return (
    <Confirm
      title={`Pause ${kind}`}
      verb={`Pause ${kind}`}
      run={pause}
      said={`${sentence(kind)} paused`}
      onClose={onClose}
    >
      <p>
        Webhooks are still accepted. Deliveries {kind === 'route' ? 'of this route' : 'to this destination'} wait until
        you resume the {kind}. Attempts in flight finish.
      </p>
      <TextInput
        label="Reason"
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <TextInput
        type="datetime-local"
        label={`Resume automatically at (${zoneName(zone)})`}
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
  const resume = (): Promise<unknown> => {
    const body = typeof rate === 'number' ? { releasePerSecond: rate } : {};
    return kind === 'route' ? call('resumeRoute', { id, body }) : call('resumeDestination', { id, body });
  };
  if (!paused || !mayWrite) return null;
  return (
    <ConfirmedAction
      label="Resume"
      title={`Resume ${kind}`}
      verb={`Resume ${kind}`}
      variant={variant}
      run={() => release(kind, id, resume)}
      said={releasedText(`${sentence(kind)} resumed`)}
    >
      <p>Held deliveries are sent in the order they were received.</p>
      <NumberInput
        label="Rate limit (per second)"
        placeholder="50"
        description="Leave empty to use the server default."
        min={1}
        max={MOST_PER_SECOND}
        allowDecimal={false}
        value={rate}
        onChange={setRate}
      />
    </ConfirmedAction>
  );
}

interface Pausing {
  paused: boolean;
  pausedSince: string | null;
  pausedUntil: string | null;
  pauseReason: string | null;
}

/** On the page of the record. */
export function PausedCallout({ kind, of }: { kind: Kind; of: Pausing }) {
  if (!of.paused) return null;
  return (
    <Callout tone="warn" title={`${sentence(kind)} paused`}>
      {of.pauseReason !== null && <bdi>{plain(of.pauseReason)}. </bdi>}
      Paused <Time at={of.pausedSince} />
      {of.pausedUntil !== null && (
        <>
          , resumes <Time at={of.pausedUntil} exact />
        </>
      )}
      . Deliveries wait.
    </Callout>
  );
}

/** A button, while the circuit breaker of a route is not closed. */
export function CloseCircuit({ of: route, variant = 'filled' }: { of: Route; variant?: 'filled' | 'default' }) {
  const { id, circuitState, circuitFailureThreshold } = route;
  const mayWrite = useMay('routes:write');
  if (!mayWrite || circuitState === 'closed') return null;
  return (
    <ConfirmedAction
      label="Resume now"
      title="Close the circuit breaker"
      verb="Resume deliveries"
      variant={variant}
      run={() => release('route', id, () => call('resetCircuit', { id }))}
      said={releasedText('Circuit breaker closed')}
    >
      <p>
        Held deliveries are sent in the order they were received, at a steady rate.{' '}
        {`The circuit breaker opens again after ${plural(circuitFailureThreshold, 'consecutive failure')}.`}
      </p>
    </ConfirmedAction>
  );
}

interface MayBePaused {
  id: string;
  name: string;
  paused: boolean;
  /** Lists of destinations lack these. */
  pausedSince?: string | null;
  pauseReason?: string | null;
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
  const count = (kind: Kind, id: string) =>
    mayCount && (
      <span className="quiet">
        · <CountLink list="listDeliveries" input={heldAt(kind, id)} one="held delivery" />
      </span>
    );
  return (
    <>
      {paused.map(({ kind, of }) => (
        <div key={kind} className="hold">
          <span className="grow">
            {sentence(kind)} <Name id={of.id} name={of.name} /> paused {of.pausedSince && <Time at={of.pausedSince} />}
            {of.pauseReason && <bdi>: {plain(of.pauseReason)}</bdi>} {count(kind, of.id)}
          </span>
          <Resume kind={kind} of={of} variant="default" />
        </div>
      ))}
      {route && route.circuitState !== 'closed' && (
        <div className="hold">
          <span className="grow">
            Circuit breaker {route.circuitState.replace('_', ' ')} on route <Name id={route.id} name={route.name} />{' '}
            {count('route', route.id)}
          </span>
          <CloseCircuit of={route} variant="default" />
        </div>
      )}
    </>
  );
}
