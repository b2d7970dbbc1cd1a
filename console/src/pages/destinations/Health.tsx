// How well a destination takes deliveries, and what waits for it.
import { Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { Count } from '../../components/Count.tsx';
import type { Column } from '../../components/DataTable.tsx';
import { Facts } from '../../components/Facts.tsx';
import { Loaded } from '../../components/Loaded.tsx';
import { Status } from '../../components/Status.tsx';
import { countText, durationText } from '../../format.ts';
import { Time } from '../../zone.tsx';

const AGAIN_MS = 5000;
const DAY_MS = 86_400_000;
const HOUR_S = 3600;
const WAITING = {
  pending: 'on their way',
  retrying: 'wait for a retry',
  circuit_open: 'held by a circuit or a pause',
} as const;

const WORDS = {
  healthy: 'It takes what it gets',
  degraded: 'It does not take all that it gets',
  failing: 'It does not take much of what it gets',
  unknown: 'Nothing was sent to it lately',
} as const;

export function Health({ id, isWarehouse }: { id: string; isWarehouse: boolean }) {
  const answer = useAsk('getDestinationHealth', { id }, { every: AGAIN_MS });
  const maySee = useMay('deliveries:read');
  return (
    <section aria-label="Health">
      <h2>Health</h2>
      <Loaded answer={answer}>
        {(health) => (
          <>
            <Group gap="md">
              <Status of={health.status} />
              <Text>
                {WORDS[health.status]}: {countText(health.successfulDeliveries)} of {countText(health.totalDeliveries)}{' '}
                deliveries succeeded lately
                {health.totalDeliveries > 0 && ` (${health.successRate} %)`}
              </Text>
            </Group>
            <Facts
              of={
                [
                  ['p50', durationText(health.p50Latency)],
                  ['p95', durationText(health.p95Latency)],
                  ['p99', durationText(health.p99Latency)],
                  ['Last success', <Time key="success" at={health.lastSuccessAt} />],
                  ['Last failure', <Time key="failure" at={health.lastFailureAt} />],
                ].filter(([name]) => !isWarehouse || String(name).startsWith('Last')) as [string, React.ReactNode][]
              }
            />
          </>
        )}
      </Loaded>
      {maySee && (
        <Group gap="md" aria-label="What waits for it" role="group">
          {(Object.keys(WAITING) as (keyof typeof WAITING)[]).map((status) => (
            <Link key={status} to="/deliveries" search={{ destinationId: id, status, range: 'all' } as never}>
              <Count
                list="listDeliveries"
                input={{ destinationId: id, status }}
                one={WAITING[status]}
                many={WAITING[status]}
              />
            </Link>
          ))}
        </Group>
      )}
      {maySee && !isWarehouse && <Codes id={id} />}
    </section>
  );
}

/** For its CSV. */
const CODES: Column<[code: string, count: number]>[] = [
  { title: 'Code', cell: () => null, csv: ([code]) => code },
  { title: 'Answers', cell: () => null, csv: ([, count]) => count },
];

/** What it answered in the last day, by status code. */
function Codes({ id }: { id: string }) {
  // Whole hours, so that the question stays the same for one.
  const from = new Date(Math.ceil((Date.now() + 60_000 - DAY_MS) / (HOUR_S * 1000)) * HOUR_S * 1000).toISOString();
  const input = { metric: 'attempts', destinationId: id, from, step: HOUR_S } as const;
  const answer = useAsk('getMetrics', input, { every: AGAIN_MS });
  return (
    <Loaded answer={answer}>
      {(metrics) => {
        const codes = Object.entries(metrics.series[0]?.total.codes ?? {}).toSorted(([, a], [, b]) => b - a);
        return (
          <Group gap="xs" mt="xs">
            <Text size="sm">
              Answers of the last day:{' '}
              {codes.length === 0
                ? 'none'
                : codes
                    .map(([code, count]) => `${code === 'none' ? 'no answer' : code}: ${countText(count)}`)
                    .join(', ')}
            </Text>
            <CopyMenu call={{ name: 'getMetrics', input }} columns={CODES} rows={codes} />
          </Group>
        );
      }}
    </Loaded>
  );
}
