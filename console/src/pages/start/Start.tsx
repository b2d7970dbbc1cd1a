// The first webhook of an empty installation: a source, a destination and a route in one form, a sample that is sent, and what
// becomes of it and of others that arrive.
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
import { LiveLine } from '../../live/LiveSwitch.tsx';
import { useLiveEvents } from '../../live/useLiveEvents.ts';
import { Time } from '../../zone.tsx';
import { sendTo } from './send.ts';
import { slugOf } from './slug.ts';

const SAMPLE = JSON.stringify({ type: 'order.paid', order: { id: 42, total: '19.90', currency: 'EUR' } }, null, 2);
const WATCH_MS = 1000;
const MOST_SHOWN = 5;

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
  const [isSent, setSent] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const send = async () => {
    setError(null);
    try {
      await sendTo(source.webhookUrl, payload);
      setSent(true);
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <Stack>
      <Text>
        Webhooks for {plain(source.name)} go to <Code className="anywhere">{source.webhookUrl}</Code>. Send a sample, or
        let your provider send one: <Link to={`/sources/${source.id}`}>how to connect it</Link>.
      </Text>
      <Editor label="A sample payload" language="json" value={payload} onChange={setPayload} />
      <Group>
        <Button onClick={() => void send()}>Send it</Button>
      </Group>
      {error !== null && <Failed error={error} />}
      <Arrivals source={source} isAwaited={isSent} />
    </Stack>
  );
}

/** What arrives at the source, live. */
function Arrivals({ source, isAwaited }: { source: Source; isAwaited: boolean }) {
  const { answer, state } = useLiveEvents({ sourceId: source.id }, { page: 1, pageSize: MOST_SHOWN, cursor: undefined }, true);
  const events = answer.data?.data ?? [];
  return (
    <section aria-label="What arrives">
      <h2>What arrives</h2>
      <LiveLine state={state} />
      {answer.error && <Failed error={answer.error} again={() => void answer.refetch()} />}
      {answer.data && events.length === 0 && (
        <Text role="status">{isAwaited ? 'Sent; waiting for it…' : 'Nothing yet. This page shows it by itself.'}</Text>
      )}
      {events.map(({ id, receivedAt }) => (
        <Arrived key={id} id={id} receivedAt={receivedAt} />
      ))}
    </section>
  );
}

function Arrived({ id, receivedAt }: { id: string; receivedAt: string }) {
  const { data, error, refetch } = useAsk(
    'getEvent',
    { id, includeDeliveries: true },
    { every: (event) => (event === undefined || event.status === 'pending') && WATCH_MS },
  );
  if (error) return <Failed error={error} again={() => void refetch()} />;
  return (
    <Group role="status">
      <Time at={receivedAt} />
      <Text>It arrived.</Text>
      {data && <Status of={data.status} />}
      {data?.routed === false && <Text>No route took it.</Text>}
      {data?.deliveries?.map((delivery) => (
        <Link key={delivery.id} to={`/deliveries/${delivery.id}`}>
          {delivery.statusCode ? `Answered ${delivery.statusCode}` : plain(delivery.error ?? 'On its way')}
        </Link>
      ))}
      <Link to={`/events/${id}`}>See the event</Link>
    </Group>
  );
}
