// What arrives at a source, live, and what becomes of it.
import { Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Source } from 'hookyard/client';
import { useAsk } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { Status } from '../../components/Status.tsx';
import { plain } from '../../format.ts';
import { LiveLine } from '../../live/LiveSwitch.tsx';
import { useLiveEvents } from '../../live/useLiveEvents.ts';
import { Time } from '../../zone.tsx';

const WATCH_MS = 1000;
const MOST_DELIVERIES = 20;
const MOST_SHOWN = 5;

export function Arrivals({ source, isAwaited }: { source: Source; isAwaited: boolean }) {
  const { answer, state } = useLiveEvents(
    { sourceId: source.id },
    { page: 1, pageSize: MOST_SHOWN, cursor: undefined },
    true,
  );
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
      {data?.deliveries?.slice(-MOST_DELIVERIES).map((delivery) => (
        <Link key={delivery.id} to={`/deliveries/${delivery.id}`}>
          {delivery.statusCode ? `Answered ${delivery.statusCode}` : plain(delivery.error ?? 'On its way')}
        </Link>
      ))}
      <Link to={`/events/${id}`}>See the event</Link>
    </Group>
  );
}
