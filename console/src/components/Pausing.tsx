// The pause of a route or destination: it is begun with a reason and an end, and ended at a rate.
import { NumberInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/client.ts';
import { plain, sentence, zoneName } from '../format.ts';
import { Time, useZone } from '../zone.tsx';
import { Confirm, ConfirmedAction } from './actions.tsx';
import { Callout } from './ui.tsx';

const MOST_PER_SECOND = 10_000;

type Kind = 'route' | 'destination';

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

/** A button, while it is paused. */
export function Resume({ kind, of: { id, paused } }: { kind: Kind; of: { id: string; paused: boolean } }) {
  const [rate, setRate] = useState<number | string>('');
  const resume = (): Promise<unknown> => {
    const body = typeof rate === 'number' ? { releasePerSecond: rate } : {};
    return kind === 'route' ? call('resumeRoute', { id, body }) : call('resumeDestination', { id, body });
  };
  if (!paused) return null;
  return (
    <ConfirmedAction
      label="Resume"
      title={`Resume ${kind}`}
      verb={`Resume ${kind}`}
      variant="filled"
      run={resume}
      said={`${sentence(kind)} resumed`}
    >
      <p>Waiting deliveries are sent in the order they were received.</p>
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
