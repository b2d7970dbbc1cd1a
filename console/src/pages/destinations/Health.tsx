// How well a destination accepts deliveries, what waits for it, and what it answered lately.
import { useQuery } from '@tanstack/react-query';
import type { DestinationHealth } from '@hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { call, type Input } from '../../api/client.ts';
import { AGAIN_MS } from '../../api/queries.ts';
import { Loaded } from '../../components/Failed.tsx';
import { Card, Facts, PageLink, Status } from '../../components/ui.tsx';
import { countsText, countText, durationText, percentText, plural, type Total, totalText } from '../../format.ts';
import { Time } from '../../zone.tsx';
import { notReplayed } from '../deliveries/ReplayFailed.tsx';

const DAY_MS = 86_400_000;
const HOUR_S = 3600;
const WAITING = { pending: 'Pending', retrying: 'Retrying', circuit_open: 'Held' } as const;
const WAITING_STATUSES = Object.keys(WAITING) as (keyof typeof WAITING)[];

/** All figures of the card are asked for together: they are of one moment. Without its health there are none. */
function useHealth(id: string) {
  const maySee = useMay('deliveries:read');
  const read = async (signal: AbortSignal) => {
    const totalOf = async (where: Input<'listDeliveries'>): Promise<Total | null> =>
      maySee
        ? call('listDeliveries', { ...where, pageSize: 1 }, { signal }).then(
            ({ pagination }) => pagination,
            () => null,
          )
        : null;
    const attempts = { metric: 'attempts', destinationId: id, from: dayAgo(), step: HOUR_S } as const;
    const [health, metrics, left, ...totals] = await Promise.all([
      call('getDestinationHealth', { id }, { signal }),
      maySee ? call('getMetrics', attempts, { signal }).catch(() => null) : null,
      totalOf(notReplayed(id)),
      ...WAITING_STATUSES.map((status) => totalOf({ destinationId: id, status })),
    ]);
    const waiting = WAITING_STATUSES.flatMap((status, index) => {
      const total = totals[index];
      return total ? [{ status, total }] : [];
    });
    return { health, waiting, left, codes: metrics && (metrics.series[0]?.total.codes ?? {}) };
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
  return (
    <Card
      title="Health"
      actions={
        answer.data && (
          <>
            <span className="quiet">{reasonText(answer.data)}</span>
            <Status of={stateOf(answer.data)} />
          </>
        )
      }
    >
      <Loaded answer={answer}>
        {({ health, waiting, left, codes }) => (
          <Facts
            isWide
            of={{
              'Success rate':
                health.totalDeliveries === 0
                  ? 'No deliveries finished recently'
                  : `${percentText(health.successRate)} (${countText(health.successfulDeliveries)} of ${countText(health.totalDeliveries)}${left && health.failedDeliveries > left.total ? ', replays included' : ''}${isHeld(waiting) ? ', held deliveries not counted' : ''})`,
              Failed: health.failedDeliveries > 0 && failedText(health.failedDeliveries, left),
              'Latency p50 / p95 / p99': !isWarehouse && latencyText(health),
              'Last success': <Time at={health.lastSuccessAt} />,
              'Last failure': <Time at={health.lastFailureAt} />,
              ...Object.fromEntries(
                waiting.map(({ status, total }) => [
                  WAITING[status],
                  <PageLink key={status} to="/deliveries" search={{ destinationId: id, status, range: 'all' }}>
                    {plural(total.total, 'delivery', totalText(total))}
                  </PageLink>,
                ]),
              ),
              'Attempts by response (last 24 hours)': codes && !isWarehouse && (countsText(codes, codeText) || 'None'),
            }}
          />
        )}
      </Loaded>
    </Card>
  );
}

const latencyText = ({ p50Latency, p95Latency, p99Latency }: DestinationHealth): string =>
  p99Latency === 0 ? '–' : [p50Latency, p95Latency, p99Latency].map(durationText).join(' / ');

/** `5 (2 not replayed)`. The two are counted over windows of their own: no difference of them is shown. */
function failedText(failed: number, left: Total | null): string {
  if (left === null || left.total > failed) return countText(failed);
  const which = left.total === failed ? '' : `${totalText(left)} `;
  return `${countText(failed)} (${left.total === 0 ? 'none left to replay' : `${which}not replayed`})`;
}

type Answer = Pick<NonNullable<ReturnType<typeof useHealth>['data']>, 'health' | 'waiting' | 'left'>;

/** No destination is shown as healthy while its deliveries are held. */
const stateOf = ({ health, waiting }: Answer) =>
  (health.status === 'healthy' || health.status === 'unknown') && isHeld(waiting) ? 'circuit_open' : health.status;

const isHeld = (waiting: Answer['waiting']): boolean =>
  waiting.some(({ status, total }) => status === 'circuit_open' && total.total > 0);

/** Why it is degraded or failing. */
function reasonText({ health, left }: Answer): string {
  if (health.status !== 'degraded' && health.status !== 'failing') return '';
  const failed = `${countText(health.failedDeliveries)} of ${plural(health.totalDeliveries, 'delivery')} failed recently`;
  return left?.total === 0 ? `${failed}, none left to replay` : failed;
}

const codeText = (code: string): string => (code === 'none' ? 'no response' : code);
