// One event: where it went, when what happened, and what came in.
import type { EventInFull } from '@hookyard/client';
import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../api/caller.tsx';
import { type Output, told } from '../../api/client.ts';
import { shellQuoted } from '../../api/curl.ts';
import { useAsk, WATCH_MS } from '../../api/queries.ts';
import { DataTable } from '../../components/DataTable.tsx';
import { Loaded } from '../../components/Failed.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { ConfirmedAction, createdText, replayEvent } from '../../components/actions.tsx';
import { Card, Status, Callout, copy, Empty, Headers, Mono, Name, PageLink } from '../../components/ui.tsx';
import { durationText, plain, plural, sizeText } from '../../format.ts';
import { RecordsField } from '../../forms/fields.tsx';
import { Payload } from '../../payload/Payload.tsx';
import { eventState } from '../../words.ts';
import { Time } from '../../zone.tsx';
import { columns } from '../deliveries/columns.tsx';

// When what happened to an event: every attempt as a bar on one scale.

interface Props {
  id: string;
  /** Deliveries, the newest. */
  most: number;
  /** Changes when the event has; the timeline is asked for again then. */
  version: string;
}

function Timeline({ id, most, version }: Props) {
  const answer = useAsk('getEventTimeline', { id }, { every: version.startsWith('pending') && WATCH_MS });
  return (
    <Card title="Timeline">
      <Loaded answer={answer}>
        {({ received, deliveries }) => {
          const began = Date.parse(received);
          const newest = deliveries.slice(-most);
          const ends = newest.flatMap(({ attempts }) => attempts.map(({ completedAt }) => Date.parse(completedAt)));
          const spanMs = Math.max(1, Math.max(began, ...ends) - began);
          return (
            <>
              <p className="small quiet">Time scale: 0 to {durationText(spanMs)} after receipt</p>
              <div className="bars">
                {newest.map((delivery) => (
                  <Row key={delivery.deliveryId} delivery={delivery} began={began} spanMs={spanMs} />
                ))}
              </div>
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

interface RowProps {
  delivery: Output<'getEventTimeline'>['deliveries'][number];
  began: number;
  spanMs: number;
}

function Row({ delivery, began, spanMs }: RowProps) {
  const texts = delivery.attempts.map(
    ({ attemptNumber, statusCode, latency }) =>
      `Attempt ${attemptNumber}: ${statusCode === null ? 'no response' : `HTTP ${statusCode}`} in ${durationText(latency)}`,
  );
  return (
    <>
      <span className="row">
        <Link to={`/deliveries/${delivery.deliveryId}`}>{plain(delivery.destinationName)}</Link>
        <Status of={delivery.status} />
      </span>
      <div className="bar" role="img" aria-label={texts.join('; ') || 'No attempts'}>
        {delivery.attempts.map((attempt, index) => (
          <i
            key={attempt.attemptNumber}
            title={texts[index]}
            data-tone={attempt.status === 'failed' ? 'bad' : 'ok'}
            style={{
              left: `${(100 * (Date.parse(attempt.startedAt) - began)) / spanMs}%`,
              width: `${(100 * attempt.latency) / spanMs}%`,
            }}
          />
        ))}
      </div>
    </>
  );
}

/** Deliveries here and in the timeline; more are only on the page of deliveries. */
const MOST = 100;

export function EventPage() {
  const mayReplay = useMay('events:write');
  const mayReadPayload = useMay('payloads:read');
  const mayReadSource = useMay('sources:read');
  return (
    <RecordPage
      get="getEvent"
      input={{ includeDeliveries: true }}
      every={WATCH_MS}
      hasCall={false}
      what="event"
      status={eventState}
      note={({ source, receivedAt }) => (
        <>
          from <Name {...source} />, <Time at={receivedAt} />
        </>
      )}
      actions={(event) => (
        <>
          {mayReadPayload && mayReadSource && <CopyAsCurl event={event} />}
          {mayReplay && <Replay of={event} />}
        </>
      )}
      facts={(event) => ({
        Source: <Name {...event.source} />,
        Received: <Time at={event.receivedAt} ms exact />,
        Method: event.method,
        Path: plain(event.path),
        Query: plain(event.query),
        'Client address': event.clientAddress,
        Size: sizeText(event.payloadSize),
        'Payload hash': <Mono text={event.payloadHash} />,
        'Trace ID': event.traceId && <Mono text={event.traceId} />,
      })}
    >
      {(event, again) => <Shown event={event} mayReadPayload={mayReadPayload} refetch={again} />}
    </RecordPage>
  );
}

interface ShownProps {
  event: EventInFull;
  mayReadPayload: boolean;
  refetch: () => unknown;
}

function Shown({ event, mayReadPayload, refetch }: ShownProps) {
  const navigate = useNavigate();
  const { deliveries = [], deliveriesNextCursor: older } = event;
  const newest = deliveries.slice(-MOST);
  return (
    <>
      {!event.routed && (
        <Callout tone="info" title="No route matched">
          The source had no enabled route, or no route's filter matched the event.{' '}
          <PageLink to="/routes" search={{ sourceId: event.sourceId }}>
            View routes
          </PageLink>
        </Callout>
      )}
      <h2>Deliveries</h2>
      <DataTable
        title="Event deliveries"
        columns={columns.filter(({ title }) => title !== 'Next attempt' && title !== 'Route')}
        idOf={(delivery) => delivery.id}
        answer={{ data: { data: newest }, error: null, isFetching: false, refetch }}
        onOpen={(delivery) => void navigate({ to: `/deliveries/${delivery.id}` })}
        empty={<Empty title="No deliveries" />}
        foot={
          (older || deliveries.length > MOST) && (
            <PageLink to="/deliveries" search={{ eventId: event.id, range: 'all' }}>
              View all deliveries
            </PageLink>
          )
        }
      />
      {deliveries.length > 0 && (
        <Timeline
          id={event.id}
          most={MOST}
          version={`${event.status} ${deliveries.map((one) => one.attemptCount).join()}`}
        />
      )}
      <div className="grid-2">
        <Card title="Payload">
          {mayReadPayload ? <EventPayload id={event.id} /> : <p className="quiet">Requires the payloads:read scope.</p>}
        </Card>
        <Card title="Headers">
          <Headers title="Request headers" of={event.headers} />
        </Card>
      </div>
    </>
  );
}

function EventPayload({ id }: { id: string }) {
  const answer = useAsk('getEventPayload', { id });
  return <Loaded answer={answer}>{({ bytes }) => <Payload bytes={bytes} name={`${id}.bin`} />}</Loaded>;
}

// What the network adds by itself, and what a repeat must not have.
const LEFT_OUT = /^(host|content-length|connection|transfer-encoding|accept-encoding|expect)$/i;
const MOST_COPIED = 1_000_000;

function CopyAsCurl({ event }: { event: EventInFull }) {
  const source = useAsk('getSource', { id: event.sourceId });
  const payload = useAsk('getEventPayload', { id: event.id });
  const error = source.error ?? payload.error;
  if (error) {
    return (
      <span role="alert" className="small bad anywhere">
        Cannot copy as curl: {plain(told(error).message)}
      </span>
    );
  }
  const bytes = payload.data?.bytes ?? new Uint8Array();
  const make = () => {
    const headers = Object.entries(event.headers)
      .filter(([name]) => !LEFT_OUT.test(name))
      .map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`);
    // Through base64, so that every byte arrives, whatever the shell makes of text.
    const encoded = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
    const query = event.query ? `?${event.query.replace(/^\?/, '')}` : '';
    const address = `${source.data?.webhookUrl ?? ''}${event.path}${query}`;
    return [
      `printf %s ${shellQuoted(encoded)} | base64 -d | curl -X ${event.method} ${shellQuoted(address)}`,
      ...headers,
      '--data-binary @-',
    ].join(' \\\n  ');
  };
  const isReady = source.data !== undefined && payload.data !== undefined && bytes.length <= MOST_COPIED;
  return (
    <Button variant="default" disabled={!isReady} onClick={() => void copy(make(), 'Command')}>
      Copy as curl
    </Button>
  );
}

function Replay({ of: { id, status } }: { of: EventInFull }) {
  const [chosen, setChosen] = useState<string[]>([]);
  return (
    <ConfirmedAction
      label="Replay"
      title="Replay event"
      verb={chosen.length === 0 ? 'Replay' : `Replay to ${plural(chosen.length, 'destination')}`}
      variant={status === 'failed' || status === 'partial' ? 'filled' : 'default'}
      run={() => replayEvent(id, chosen)}
      said={createdText}
    >
      <RecordsField
        label="Destinations"
        description="Leave empty for all destinations of the source's enabled routes. Route filters do not apply."
        list="listDestinations"
        value={chosen}
        onChange={setChosen}
        maxValues={100}
      />
    </ConfirmedAction>
  );
}
