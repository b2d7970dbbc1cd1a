// The way of a webhook through a route, in the order in which it is taken, with the figures of the period at each step.
import { Link } from '@tanstack/react-router';
import type { Metrics, Route } from 'hookyard/client';
import type { ReactNode } from 'react';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { Count } from '../../components/Count.tsx';
import { Failed } from '../../components/Failed.tsx';
import { Name } from '../../components/Name.tsx';
import { useNames } from '../../components/names.tsx';
import { PausedBadge } from '../../components/Pausing.tsx';
import { countText, durationText, plain } from '../../format.ts';
import { RANGES, type RangeName, rangeOf } from '../../search.ts';

const AGAIN_MS = 10_000;
const STEPS: Record<RangeName, number> = { '1h': 300, '24h': 3600, '7d': 3600, '30d': 86_400 };
const CLOCK_MS = 60_000;

export function Picture({ route, range }: { route: Route; range: RangeName }) {
  const stats = useAsk('getRouteStatistics', { id: route.id, period: range }, { every: AGAIN_MS, keep: true });
  const maySee = useMay('deliveries:read');
  const step = STEPS[range];
  const from = new Date(Math.ceil((Date.now() + CLOCK_MS - RANGES[range]) / (step * 1000)) * step * 1000).toISOString();
  const byDestination = useAsk(
    'getMetrics',
    { metric: 'deliveries', groupBy: 'destination', routeId: route.id, from, step },
    { enabled: maySee, every: AGAIN_MS, keep: true },
  );
  const { nameOf, problem } = useNames('listDestinations', route.failoverDestinationIds.length > 0);
  const error = stats.error ?? byDestination.error;
  const { data } = stats;
  const since = rangeOf({ range }, range);
  const time = { range };
  return (
    <>
      {error && <Failed error={error} again={() => void Promise.all([stats.refetch(), byDestination.refetch()])} />}
      {problem}
      <ol className="way" aria-label="The way of a webhook">
        <Step kind="Source" title={<Name id={route.source.id} name={route.source.name} />}>
          {data && <strong>{countText(data.eventsRouted + data.eventsFiltered)} webhooks</strong>}
        </Step>
        {route.schema && (
          <Step kind="Schema" title={<Name id={route.schema.id} name={route.schema.name} />}>
            <Link to="/deliveries" search={{ routeId: route.id, status: 'schema_failed', ...time } as never}>
              <Count
                list="listDeliveries"
                input={{ routeId: route.id, status: 'schema_failed', ...since }}
                one="delivery refused"
                many="deliveries refused"
              />
            </Link>
          </Step>
        )}
        {(route.filter || route.filterConditions) && (
          <Step
            kind="Filter"
            title={
              route.filter ? (
                <Name id={route.filter.id} name={route.filter.name} />
              ) : (
                `${route.filterConditions?.length ?? 0} conditions of its own`
              )
            }
          >
            {data && <strong>{countText(data.eventsFiltered)} not taken</strong>}
          </Step>
        )}
        {route.transform && (
          <Step kind="Transform" title={<Name id={route.transform.id} name={route.transform.name} />}>
            {data && <strong>{countText(data.eventsRouted)} taken</strong>}
          </Step>
        )}
        <Step
          kind={route.destinations.length === 1 ? 'Destination' : 'Destinations'}
          title={route.paused ? <PausedBadge of={route} /> : null}
        >
          {data && (
            <div>
              <strong>{countText(data.deliveriesSucceeded)} delivered</strong>,{' '}
              <Link to="/deliveries" search={{ routeId: route.id, status: 'failed', ...time } as never}>
                {countText(data.deliveriesFailed)} failed
              </Link>
              , on average {durationText(data.avgLatency)}
            </div>
          )}
          {route.destinations.map((one) => (
            <Target key={one.id} id={one.id} name={one.name} metrics={byDestination.data} />
          ))}
        </Step>
        {route.failoverDestinationIds.length > 0 && (
          <Step
            kind="Failover"
            title={
              route.circuitState === 'closed'
                ? `after ${route.failoverAfterAttempts} failed attempts`
                : 'at once: the circuit is not closed'
            }
          >
            {route.failoverDestinationIds.map((id, index) => (
              <Target key={id} id={id} name={`${index + 1}. ${nameOf(id)}`} metrics={byDestination.data} />
            ))}
          </Step>
        )}
      </ol>
    </>
  );
}

function Step({ kind, title, children }: { kind: string; title: ReactNode; children: ReactNode }) {
  return (
    <li>
      <span className="quiet">{kind}</span>
      {title && <div>{title}</div>}
      <div>{children}</div>
    </li>
  );
}

function Target({ id, name, metrics }: { id: string; name: string; metrics: Metrics | undefined }) {
  const total = metrics?.series.find((one) => one.id === id)?.total;
  return (
    <div>
      <Name id={id} name={plain(name)} />
      {metrics && (
        <>
          : {countText(total?.delivered ?? 0)} delivered, {countText((total?.failed ?? 0) + (total?.notSent ?? 0))}{' '}
          failed
          {(total?.failedOver ?? 0) > 0 && `, ${countText(total?.failedOver ?? 0)} failed over`}
        </>
      )}
    </div>
  );
}
