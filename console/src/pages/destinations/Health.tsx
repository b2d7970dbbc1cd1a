// How well a destination accepts deliveries, what waits for it, and what it answered lately.
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { CountLink } from '../../components/Count.tsx';
import { Loaded } from '../../components/Failed.tsx';
import { Card, Facts, Status } from '../../components/ui.tsx';
import { countText, durationText } from '../../format.ts';
import { Time } from '../../zone.tsx';

const AGAIN_MS = 5000;
const DAY_MS = 86_400_000;
const HOUR_S = 3600;
const WAITING = [
  ['pending', 'Pending'],
  ['retrying', 'Retrying'],
  ['circuit_open', 'Held'],
] as const;

export function Health({ id, isWarehouse }: { id: string; isWarehouse: boolean }) {
  const answer = useAsk('getDestinationHealth', { id }, { every: AGAIN_MS });
  const maySee = useMay('deliveries:read');
  return (
    <Card title="Health" actions={answer.data && <Status of={answer.data.status} />}>
      <Loaded answer={answer}>
        {(health) => (
          <Facts
            isWide
            of={[
              [
                'Success rate',
                health.totalDeliveries === 0
                  ? 'No finished deliveries'
                  : `${health.successRate}% (${countText(health.successfulDeliveries)} of ${countText(health.totalDeliveries)})`,
              ],
              !isWarehouse && [
                'Latency p50 / p95 / p99',
                health.p99Latency === 0
                  ? '–'
                  : [health.p50Latency, health.p95Latency, health.p99Latency].map(durationText).join(' / '),
              ],
              ['Last success', <Time key="success" at={health.lastSuccessAt} />],
              ['Last failure', <Time key="failure" at={health.lastFailureAt} />],
              ...(maySee ? WAITING : []).map(([status, label]): [string, React.ReactNode] => [
                label,
                <CountLink key={status} list="listDeliveries" input={{ destinationId: id, status }} one="delivery" />,
              ]),
              maySee && !isWarehouse && ['Responses, last 24 hours', <Codes key="codes" id={id} />],
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}

/** What it answered in the last day, by status code. */
function Codes({ id }: { id: string }) {
  // Whole hours, so that the question stays the same for one.
  const from = new Date(Math.ceil((Date.now() + 60_000 - DAY_MS) / (HOUR_S * 1000)) * HOUR_S * 1000).toISOString();
  const input = { metric: 'attempts', destinationId: id, from, step: HOUR_S } as const;
  const answer = useAsk('getMetrics', input, { every: AGAIN_MS });
  return (
    <Loaded answer={answer}>
      {({ series }) => {
        const codes = Object.entries(series[0]?.total.codes ?? {}).toSorted(([, a], [, b]) => b - a);
        const texts = codes.map(([code, count]) => `${code === 'none' ? 'no response' : code}: ${countText(count)}`);
        return texts.join(', ') || 'None';
      }}
    </Loaded>
  );
}
