// When what happened to an event: every attempt as a bar on one scale.
import { Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useAsk } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import type { Column } from '../../components/DataTable.tsx';
import { Failed } from '../../components/Failed.tsx';
import { Status } from '../../components/Status.tsx';
import { durationText, plain } from '../../format.ts';
import { Time } from '../../zone.tsx';

interface Bar {
  delivery: RowProps['delivery'];
  attempt: RowProps['delivery']['attempts'][number];
}

/** For its CSV. */
const columns: Column<Bar>[] = [
  { title: 'Delivery', cell: () => null, csv: ({ delivery }) => delivery.deliveryId },
  { title: 'Destination', cell: () => null, csv: ({ delivery }) => delivery.destinationName },
  { title: 'Attempt', cell: () => null, csv: ({ attempt }) => attempt.attemptNumber },
  { title: 'Began', cell: () => null, csv: ({ attempt }) => attempt.startedAt },
  { title: 'Milliseconds', cell: () => null, csv: ({ attempt }) => attempt.latency },
  { title: 'Status', cell: () => null, csv: ({ attempt }) => attempt.status },
  { title: 'Code', cell: () => null, csv: ({ attempt }) => attempt.statusCode },
];

/**
 * @param most deliveries, the newest
 * @param version changes when the event has; the timeline is asked for again then
 */
export function Timeline({ id, most, version }: { id: string; most: number; version: string }) {
  const { data, error, refetch } = useAsk('getEventTimeline', { id }, { every: version.startsWith('pending') && 2000 });
  if (error || !data) {
    return (
      <>
        <h2>Timeline</h2>
        {error ? <Failed error={error} again={() => void refetch()} /> : <Text role="status">Loading…</Text>}
      </>
    );
  }
  const began = Date.parse(data.received);
  const newest = data.deliveries.slice(-most);
  const ends = newest.flatMap(({ attempts }) => attempts.map(({ completedAt }) => Date.parse(completedAt)));
  const spanMs = Math.max(1, Math.max(began, ...ends) - began);
  const bars = newest.flatMap((delivery) => delivery.attempts.map((attempt) => ({ delivery, attempt })));
  return (
    <>
      <Group justify="space-between" mt="sm">
        <h2>Timeline</h2>
        <CopyMenu call={{ name: 'getEventTimeline', input: { id } }} columns={columns} rows={bars} />
      </Group>
      <Text size="sm" mb="xs">
        Received <Time at={data.received} ms />; the last attempt ended {durationText(spanMs)} later.
      </Text>
      <div className="bars">
        {newest.map((delivery) => (
          <Row key={delivery.deliveryId} delivery={delivery} began={began} spanMs={spanMs} />
        ))}
      </div>
    </>
  );
}

interface RowProps {
  delivery: {
    deliveryId: string;
    destinationName: string;
    status: string;
    attempts: {
      attemptNumber: number;
      startedAt: string;
      latency: number;
      status: string;
      statusCode: number | null;
    }[];
  };
  began: number;
  spanMs: number;
}

function Row({ delivery, began, spanMs }: RowProps) {
  const texts = delivery.attempts.map(
    ({ attemptNumber, statusCode, latency }) =>
      `attempt ${attemptNumber}: ${statusCode ?? 'no answer'} in ${durationText(latency)}`,
  );
  return (
    <>
      <span>
        <Link to={`/deliveries/${delivery.deliveryId}`}>{plain(delivery.destinationName)}</Link>{' '}
        <Status of={delivery.status} />
      </span>
      <div className="bar" role="img" aria-label={texts.join('; ') || 'no attempt yet'}>
        {delivery.attempts.map((attempt, index) => (
          <i
            key={attempt.attemptNumber}
            title={texts[index]}
            data-failed={attempt.status === 'failed' ? '' : undefined}
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
