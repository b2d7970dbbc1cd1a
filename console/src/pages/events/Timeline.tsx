// When what happened to an event: every attempt as a bar on one scale.
import { Link } from '@tanstack/react-router';
import type { Output } from '../../api/client.ts';
import { useAsk, WATCH_MS } from '../../api/queries.ts';
import { Loaded } from '../../components/Failed.tsx';
import { Card, Status } from '../../components/ui.tsx';
import { durationText, plain } from '../../format.ts';

interface Props {
  id: string;
  /** Deliveries, the newest. */
  most: number;
  /** Changes when the event has; the timeline is asked for again then. */
  version: string;
}

export function Timeline({ id, most, version }: Props) {
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
