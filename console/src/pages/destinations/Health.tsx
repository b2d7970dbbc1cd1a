// How well a destination accepts deliveries, what waits for it, and what it answered lately.
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { Loaded } from '../../components/Failed.tsx';
import { Card, Facts, PageLink, Status } from '../../components/ui.tsx';
import { countText, durationText, percentText, plural, totalText } from '../../format.ts';
import { Time } from '../../zone.tsx';
import { notReplayed } from '../deliveries/ReplayFailed.tsx';

const AGAIN_MS = 5000;
const DAY_MS = 86_400_000;
const HOUR_S = 3600;
const WAITING = [
  ['pending', 'Pending'],
  ['retrying', 'Retrying'],
  ['circuit_open', 'Held'],
] as const;

/** All figures of the card are asked for together: they are of one moment. */
function useHealth(id: string) {
  const maySee = useMay('deliveries:read');
  const read = async (signal: AbortSignal) => {
    const [health, waiting, metrics, left] = await Promise.all([
      call('getDestinationHealth', { id }, { signal }),
      Promise.all(
        (maySee ? WAITING : []).map(async ([status, label]) => {
          const { pagination } = await call('listDeliveries', { destinationId: id, status, pageSize: 1 }, { signal });
          return { status, label, count: plural(pagination.total, 'delivery', totalText(pagination)) };
        }),
      ),
      maySee
        ? call('getMetrics', { metric: 'attempts', destinationId: id, from: dayAgo(), step: HOUR_S }, { signal })
        : null,
      maySee ? call('listDeliveries', { ...notReplayed(id), pageSize: 1 }, { signal }) : null,
    ]);
    return { health, waiting, left: left?.pagination, codes: metrics && (metrics.series[0]?.total.codes ?? {}) };
  };
  return useQuery({
    queryKey: ['health', id, maySee],
    queryFn: ({ signal }) => read(signal),
    refetchInterval: AGAIN_MS,
  });
}

/** At a whole hour. */
const dayAgo = () =>
  new Date(Math.ceil((Date.now() + 60_000 - DAY_MS) / (HOUR_S * 1000)) * HOUR_S * 1000).toISOString();

export function Health({ id, isWarehouse }: { id: string; isWarehouse: boolean }) {
  const answer = useHealth(id);
  const { totalDeliveries } = answer.data?.health ?? {};
  // The charts beside it count the same deliveries.
  useEffect(() => {
    if (totalDeliveries === undefined) return;
    void queryClient.invalidateQueries({
      predicate: ({ queryKey: [name] }) => name === 'getMetrics' || name === 'listDeliveries',
    });
  }, [totalDeliveries]);
  return (
    <Card title="Health" actions={answer.data && <Status of={answer.data.health.status} />}>
      <Loaded answer={answer}>
        {({ health, waiting, left, codes }) => (
          <Facts
            isWide
            of={[
              [
                'Success rate',
                health.totalDeliveries === 0
                  ? 'No finished deliveries'
                  : `${percentText(health.successRate)} (${countText(health.successfulDeliveries)} of ${countText(health.totalDeliveries)})`,
              ],
              health.failedDeliveries > 0 && left && ['Failed', failedText(health.failedDeliveries, left.total)],
              !isWarehouse && [
                'Latency p50 / p95 / p99',
                health.p99Latency === 0
                  ? '–'
                  : [health.p50Latency, health.p95Latency, health.p99Latency].map(durationText).join(' / '),
              ],
              ['Last success', <Time key="success" at={health.lastSuccessAt} />],
              ['Last failure', <Time key="failure" at={health.lastFailureAt} />],
              ...waiting.map(({ status, label, count }): [string, React.ReactNode] => [
                label,
                <PageLink key={status} to="/deliveries" search={{ destinationId: id, status, range: 'all' }}>
                  {count}
                </PageLink>,
              ]),
              codes && !isWarehouse && ['Attempts by response, last 24 hours', codesText(codes)],
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}

/** `2, both replayed` */
function failedText(failed: number, left: number): string {
  if (left >= failed) return `${countText(failed)}, not replayed`;
  if (left > 0) return `${countText(failed)}, ${countText(left)} not replayed`;
  return failed === 1 ? '1, replayed' : `${countText(failed)}, ${failed === 2 ? 'both' : 'all'} replayed`;
}

/** `200: 25, no response: 2` */
const codesText = (codes: Record<string, number>): string =>
  Object.entries(codes)
    .toSorted(([, a], [, b]) => b - a)
    .map(([code, count]) => `${code === 'none' ? 'no response' : code}: ${countText(count)}`)
    .join(', ') || 'None';
