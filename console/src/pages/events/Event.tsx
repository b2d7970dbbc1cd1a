// One webhook: what came in, when what happened to it, and where it went.
import { Button, Group, Modal, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { Link, useNavigate } from '@tanstack/react-router';
import type { EventInFull } from 'hookyard/client';
import { useMemo, useState } from 'react';
import { useMay } from '../../api/caller.tsx';
import { shellQuoted } from '../../api/curl.ts';
import { told } from '../../api/errors.ts';
import { useAct, useAsk } from '../../api/queries.ts';
import { CopyMenu, copy } from '../../components/CopyMenu.tsx';
import { DataTable } from '../../components/DataTable.tsx';
import { Failed } from '../../components/Failed.tsx';
import { Headers } from '../../components/Headers.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { Status } from '../../components/Status.tsx';
import { plain, sizeText } from '../../format.ts';
import { RecordsField } from '../../forms/fields.tsx';
import { Payload } from '../../payload/Payload.tsx';
import { Time } from '../../zone.tsx';
import { columns } from '../deliveries/columns.tsx';
import { Timeline } from './Timeline.tsx';

const OPEN_MS = 2000;
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
      every={OPEN_MS}
      title="Event"
      actions={(event) => (
        <>
          {mayReplay && <Replay event={event} />}
          {mayReadPayload && mayReadSource && <CopyAsCurl event={event} />}
        </>
      )}
    >
      {(event, again) => <Shown event={event} mayReadPayload={mayReadPayload} refetch={again} />}
    </RecordPage>
  );
}

function Shown({
  event,
  mayReadPayload,
  refetch,
}: {
  event: EventInFull;
  mayReadPayload: boolean;
  refetch: () => unknown;
}) {
  const navigate = useNavigate();
  const { deliveries = [], deliveriesNextCursor: older } = event;
  const newest = deliveries.slice(-MOST);
  return (
    <>
      <Group gap="md" my="xs">
        <Status of={event.status} />
        <Text>
          {event.method} from <strong>{plain(event.source.name)}</strong>
          {event.clientAddress && ` (${event.clientAddress})`}
        </Text>
        <Text>
          Received <Time at={event.receivedAt} ms />
        </Text>
        <Text>{sizeText(event.payloadSize)}</Text>
      </Group>
      {!event.routed && (
        <Text fw={600}>
          No route took it: none leads from its source, or their filters refused it.{' '}
          <Link to="/routes" search={{ sourceId: event.sourceId } as never}>
            Routes of its source
          </Link>
        </Text>
      )}
      {event.path !== '' && <Text className="anywhere">Path: {plain(event.path)}</Text>}
      {event.query !== '' && <Text className="anywhere">Query: {plain(event.query)}</Text>}
      <Group justify="space-between" mt="sm">
        <h2>Deliveries</h2>
        <CopyMenu call={{ name: 'listDeliveries', input: { eventId: event.id } }} columns={columns} rows={newest} />
      </Group>
      <DataTable
        title="Deliveries of the event"
        columns={columns}
        idOf={(delivery) => delivery.id}
        answer={{ data: { data: newest }, error: null, isFetching: false, refetch }}
        onOpen={(delivery) => void navigate({ to: `/deliveries/${delivery.id}` })}
        empty="It was delivered nowhere."
        foot={
          (older || deliveries.length > MOST) && (
            <Text size="sm">
              The newest {MOST}.{' '}
              <Link to="/deliveries" search={{ eventId: event.id, range: 'all' } as never}>
                All deliveries of the event
              </Link>
            </Text>
          )
        }
      />
      <Timeline
        id={event.id}
        most={MOST}
        version={`${event.status} ${deliveries.map((one) => one.attemptCount).join()}`}
      />
      <div className="side">
        <section>
          <h2>Payload</h2>
          {mayReadPayload ? <EventPayload id={event.id} /> : <Text>This key may not read payloads.</Text>}
        </section>
        <section>
          <h2>Headers</h2>
          <Headers title="Headers" of={event.headers} />
          <Text size="xs" className="anywhere quiet">
            {event.payloadHash}
            {event.traceId && `, trace ${event.traceId}`}
          </Text>
        </section>
      </div>
    </>
  );
}

function EventPayload({ id }: { id: string }) {
  const { data, error, refetch } = useAsk('getEventPayload', { id });
  const bytes = useMemo(() => data?.bytes, [data]);
  if (error) return <Failed error={error} again={() => void refetch()} />;
  return bytes ? <Payload bytes={bytes} name={`${id}.bin`} /> : <Text role="status">Loading…</Text>;
}

// What the network adds by itself, and what a repeat must not have.
const LEFT_OUT = /^(host|content-length|connection|transfer-encoding|accept-encoding|expect)$/i;

function CopyAsCurl({ event }: { event: EventInFull }) {
  const source = useAsk('getSource', { id: event.sourceId });
  const payload = useAsk('getEventPayload', { id: event.id });
  const error = source.error ?? payload.error;
  if (error) {
    return (
      <Text size="xs" role="alert" className="problem anywhere" maw={320}>
        It cannot be copied as curl: {plain(told(error).message)}
      </Text>
    );
  }
  const webhookUrl = source.data?.webhookUrl ?? '';
  const bytes = payload.data?.bytes ?? new Uint8Array();
  const make = () => {
    const headers = Object.entries(event.headers)
      .filter(([name]) => !LEFT_OUT.test(name))
      .map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`);
    // Through base64, so that every byte arrives, whatever the shell makes of text.
    const encoded = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
    const address = `${webhookUrl}${event.path}${event.query ? `?${event.query.replace(/^\?/, '')}` : ''}`;
    return [
      `printf %s ${shellQuoted(encoded)} | base64 -d | curl -X ${event.method} ${shellQuoted(address)}`,
      ...headers,
      '--data-binary @-',
    ].join(' \\\n  ');
  };
  return (
    <Button
      size="xs"
      variant="default"
      disabled={!source.data || !payload.data || bytes.length > 1_000_000}
      onClick={() => void copy(make(), 'The webhook as curl')}
    >
      Copy as curl
    </Button>
  );
}

function Replay({ event }: { event: EventInFull }) {
  const [isOpen, { open, close }] = useDisclosure();
  const [chosen, setChosen] = useState<string[]>([]);
  const replay = useAct('replayEvent', ['getEvent', 'listEvents', 'listDeliveries', 'getEventTimeline']);
  const send = () =>
    replay.mutate(
      { id: event.id, ...(chosen.length > 0 && { body: { destinationIds: chosen } }) },
      {
        onSuccess: ({ deliveriesCreated }) => {
          notifications.show({ message: `${deliveriesCreated} deliveries were made` });
          close();
        },
      },
    );
  return (
    <>
      <Button size="xs" onClick={open}>
        Replay
      </Button>
      <Modal opened={isOpen} onClose={close} title="Replay this event">
        <RecordsField
          label="To these destinations"
          description="None chosen: to all where its routes lead now."
          list="listDestinations"
          value={chosen}
          onChange={setChosen}
          most={100}
        />
        {replay.error && <Text role="alert">{told(replay.error).message}</Text>}
        <Group justify="end" mt="md">
          <Button variant="default" onClick={close}>
            Close
          </Button>
          <Button onClick={send} loading={replay.isPending}>
            {chosen.length === 0 ? 'Replay to all' : `Replay to ${chosen.length}`}
          </Button>
        </Group>
      </Modal>
    </>
  );
}
