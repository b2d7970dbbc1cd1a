// The first webhook of an empty installation: a source, a destination and a route in one form, a sample that is sent, and what
// became of it.
import { Button, Code, Group, Stack, Text, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Source } from 'hookyard/client';
import { type FormEvent, useState } from 'react';
import { call } from '../../api/client.ts';
import { useAsk } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { Page } from '../../components/Page.tsx';
import { Status } from '../../components/Status.tsx';
import { Editor } from '../../editor/Editor.tsx';
import { plain } from '../../format.ts';
import { sendTo } from './send.ts';
import { slugOf } from './slug.ts';

const SAMPLE = JSON.stringify({ type: 'order.paid', order: { id: 42, total: '19.90', currency: 'EUR' } }, null, 2);
const WATCH_MS = 1000;

export function Start() {
  const [made, setMade] = useState<Source | null>(null);
  return (
    <Page title="First webhook">
      <Text mb="sm">
        A source receives webhooks at an address of its own, a route takes them to a destination. Here you make one of
        each.
      </Text>
      {made ? <Send source={made} /> : <Make onMade={setMade} />}
    </Page>
  );
}

function Make({ onMade }: { onMade: (source: Source) => void }) {
  const [name, setName] = useState('Orders');
  const [url, setUrl] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [isRunning, setRunning] = useState(false);
  const make = async (event: FormEvent) => {
    event.preventDefault();
    setRunning(true);
    setError(null);
    try {
      // The destination first: its address is what may be refused. What was made stays when a later step is refused.
      const destination = await call('createDestination', { body: { name: `${name} receiver`, url } });
      const source = await call('createSource', { body: { name, slug: slugOf(name) } });
      await call('createRoute', { body: { name, sourceId: source.id, destinationIds: [destination.id] } });
      onMade(source);
    } catch (problem) {
      setError(problem);
    } finally {
      setRunning(false);
    }
  };
  return (
    <form onSubmit={(event) => void make(event)}>
      <Stack maw={520}>
        <TextInput
          label="Name of the source"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
        />
        <TextInput
          label="Deliver to"
          description="An address that takes POST. npx hookyard listen 4000 starts one on this machine: http://localhost:4000"
          type="url"
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
          required
        />
        {error !== null && <Failed error={error} />}
        <Group>
          <Button type="submit" loading={isRunning}>
            Make source, destination and route
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Send({ source }: { source: Source }) {
  const [payload, setPayload] = useState(SAMPLE);
  const [eventId, setEventId] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const send = async () => {
    setError(null);
    try {
      setEventId(await sendTo(source.webhookUrl, payload));
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <Stack>
      <Text>
        Webhooks for {plain(source.name)} go to <Code className="anywhere">{source.webhookUrl}</Code>
      </Text>
      <Editor label="A sample payload" language="json" value={payload} onChange={setPayload} />
      <Group>
        <Button onClick={() => void send()}>Send it</Button>
      </Group>
      {error !== null && <Failed error={error} />}
      {eventId !== null && <Watch id={eventId} />}
    </Stack>
  );
}

function Watch({ id }: { id: string }) {
  const { data, error, refetch } = useAsk('getEvent', { id, includeDeliveries: true }, { every: WATCH_MS });
  if (error) return <Failed error={error} again={() => void refetch()} />;
  return (
    <div role="status">
      {data ? (
        <Group>
          <Text>It arrived.</Text>
          <Status of={data.status} />
          {data.deliveries?.map((delivery) => (
            <Link key={delivery.id} to={`/deliveries/${delivery.id}`}>
              {delivery.statusCode ? `Answered ${delivery.statusCode}` : plain(delivery.error ?? 'On its way')}
            </Link>
          ))}
          <Link to={`/events/${id}`}>See the event</Link>
        </Group>
      ) : (
        <Text>Sent; waiting for it…</Text>
      )}
    </div>
  );
}
