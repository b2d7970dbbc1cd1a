// The pause of a route or destination: it is begun with a reason and an end, and ended at a rate.
import { Alert, Badge, NumberInput, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/client.ts';
import { plain, zoneName } from '../format.ts';
import { Time, useZone } from '../zone.tsx';
import { ConfirmedAction } from './ConfirmedAction.tsx';

const MOST_PER_SECOND = 10_000;

type Kind = 'route' | 'destination';
interface Props {
  kind: Kind;
  of: { id: string; paused: boolean };
}

/** Ends the pause that there is, or begins one. */
export function PauseAction({ kind, of: { id, paused } }: Props) {
  return paused ? <Resume kind={kind} id={id} /> : <Pause kind={kind} id={id} />;
}

function Pause({ kind, id }: { kind: Kind; id: string }) {
  const { zone } = useZone();
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState('');
  const pause = async () => {
    const body = {
      ...(reason.trim() !== '' && { reason: reason.trim() }),
      // Without a zone a browser reads it as local.
      ...(until !== '' && { until: new Date(zone === 'utc' ? `${until}Z` : until).toISOString() }),
    };
    await (kind === 'route' ? call('pauseRoute', { id, body }) : call('pauseDestination', { id, body }));
    return `The ${kind} is paused`;
  };
  return (
    <ConfirmedAction label="Pause" title={`Pause this ${kind}`} verb="Pause it" run={pause}>
      <Text mb="xs">
        Webhooks are taken as before. Their deliveries {kind === 'route' ? 'by this route' : 'to this destination'}{' '}
        wait, retries too, and go out when it is resumed. Attempts that are under way end.
      </Text>
      <TextInput
        label="Reason"
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <TextInput
        type="datetime-local"
        label={`Until (${zoneName(zone)}); empty: until somebody resumes it`}
        value={until}
        onChange={(event) => setUntil(event.currentTarget.value)}
      />
    </ConfirmedAction>
  );
}

function Resume({ kind, id }: { kind: Kind; id: string }) {
  const [rate, setRate] = useState<number | string>('');
  const resume = async () => {
    const body = typeof rate === 'number' ? { releasePerSecond: rate } : {};
    await (kind === 'route' ? call('resumeRoute', { id, body }) : call('resumeDestination', { id, body }));
    return `The ${kind} is not paused any more`;
  };
  return (
    <ConfirmedAction label="Resume" title={`Resume this ${kind}`} verb="Resume it" variant="filled" run={resume}>
      <Text mb="xs">Deliveries that wait go out in the order of receipt.</Text>
      <NumberInput
        label="Per second; empty: as the server is set (50)"
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
export function PausedAlert({ kind, of }: { kind: Kind; of: Pausing }) {
  if (!of.paused) return null;
  return (
    <Alert color="yellow" title={`This ${kind} is paused`} my="sm">
      {of.pauseReason !== null && <bdi className="anywhere">{plain(of.pauseReason)}</bdi>}
      <Text size="sm">
        Since <Time at={of.pausedSince} />
        {of.pausedUntil === null ? ', until somebody resumes it' : ', until '}
        {of.pausedUntil !== null && <Time at={of.pausedUntil} />}. Its deliveries wait.
      </Text>
    </Alert>
  );
}

/** In lists and pictures. */
export function PausedBadge({ of: { paused } }: { of: { paused: boolean } }) {
  return paused ? (
    <Badge color="yellow" variant="default" tt="none">
      paused
    </Badge>
  ) : null;
}
