// What arrives at a source, live, and what becomes of it.
import { Link } from '@tanstack/react-router';
import type { Delivery, Source } from '@hookyard/client';
import { useAsk } from '../../api/queries.ts';
import { Failed, Loading } from '../../components/Failed.tsx';
import { Status, statusText } from '../../components/ui.tsx';
import { plain } from '../../format.ts';
import { LiveLine, useLive } from '../../live/Live.tsx';
import { eventState } from '../../words.ts';
import { Time } from '../../zone.tsx';

const WATCH_MS = 1000;
const MOST_DELIVERIES = 20;
const MOST_SHOWN = 5;

export function useArrivals({ id }: Source) {
  const { state, every } = useLive({ sourceId: id }, true);
  const input = { sourceId: id, pageSize: MOST_SHOWN };
  return { state, answer: useAsk('listEvents', input, { every: (page) => every(page?.data) }) };
}

type Props = ReturnType<typeof useArrivals> & { isAwaited: boolean };

export function Arrivals({ answer, state, isAwaited }: Props) {
  const events = answer.data?.data ?? [];
  return (
    <section aria-label="Events" className="stack">
      <LiveLine state={state} />
      {answer.error && <Failed error={answer.error} again={() => void answer.refetch()} />}
      {events.length === 0 && (
        <p role="status" className="quiet">
          {isAwaited ? 'Sent. Waiting for the event to arrive…' : 'No events yet. This list updates live.'}
        </p>
      )}
      {events.map((event) => (
        <Arrived key={event.id} id={event.id} />
      ))}
    </section>
  );
}

/** An event and what becomes of it, until that is final. */
export function Arrived({ id }: { id: string }) {
  const { data, error, refetch } = useAsk(
    'getEvent',
    { id, includeDeliveries: true },
    { every: (event) => (event === undefined || event.status === 'pending') && WATCH_MS },
  );
  if (error) return <Failed error={error} again={() => void refetch()} />;
  return (
    <div className="row row-loose" role="status">
      {data ? <Status of={eventState(data)} /> : <Loading lines={1} />}
      <Link to={`/events/${id}`}>Event received {data && <Time at={data.receivedAt} />}</Link>
      {data?.routed === false && <span>No route matched</span>}
      {data?.deliveries?.slice(-MOST_DELIVERIES).map((delivery) => (
        <Link key={delivery.id} to={`/deliveries/${delivery.id}`}>
          {outcomeOf(delivery)}
        </Link>
      ))}
    </div>
  );
}

/** `Response 200 from CRM`, `Pending (CRM)` */
function outcomeOf({ statusCode, error, status, destination }: Delivery): string {
  const name = plain(destination.name ?? destination.id);
  return statusCode ? `Response ${statusCode} from ${name}` : `${plain(error ?? statusText(status))} (${name})`;
}
