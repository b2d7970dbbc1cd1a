// A route as a drawn flow: source, rules, destinations and failovers, with the figures of the time range at each step.
import {
  CodeIcon,
  EnterIcon,
  ExitIcon,
  FileTextIcon,
  MixerHorizontalIcon,
  ShuffleIcon,
} from '../../components/icons.tsx';
import { Link } from '@tanstack/react-router';
import type { Metrics, Route } from '@hookyard/client';
import type { ComponentType, ReactNode } from 'react';
import { useMay } from '../../api/caller.tsx';
import { AGAIN_MS, useAsk } from '../../api/queries.ts';
import { beginOf } from '../../charts/Figures.tsx';
import { Count } from '../../components/Count.tsx';
import { Failed } from '../../components/Failed.tsx';
import { useNames } from '../../components/names.tsx';
import { Card, Name, type Tone } from '../../components/ui.tsx';
import { conditionText, rowsOf } from '../../forms/Conditions.tsx';
import { countText, durationText, plural, shortened } from '../../format.ts';
import { type RangeName, rangeOf } from '../../search.ts';

/** Of a condition. */
const MOST_CHARACTERS = 60;
/** Seconds. */
const STEPS: Record<RangeName, number> = { '1h': 300, '24h': 3600, '7d': 3600, '30d': 86_400 };

export function Flow({ route, range }: { route: Route; range: RangeName }) {
  const stats = useAsk('getRouteStatistics', { id: route.id, period: range }, { every: AGAIN_MS, keep: true });
  const maySee = useMay('deliveries:read');
  const step = STEPS[range];
  const byDestination = useAsk(
    'getMetrics',
    { metric: 'deliveries', groupBy: 'destination', routeId: route.id, from: beginOf(range, step), step },
    { enabled: maySee, every: AGAIN_MS, keep: true },
  );
  const { nameOf, problem } = useNames('listDestinations', route.failoverDestinationIds.length > 0);
  const error = stats.error ?? byDestination.error;
  const { data } = stats;
  const since = rangeOf({ range }, range);
  const mismatches = { routeId: route.id, status: 'schema_failed' as const };
  const conditions = rowsOf(route.filterConditions ?? []).map(conditionText);
  const isBroken = route.circuitState !== 'closed' || route.paused || !route.enabled;
  return (
    <Card title="Flow">
      {error && <Failed error={error} again={() => void Promise.all([stats.refetch(), byDestination.refetch()])} />}
      {problem}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, by keys too */}
      <ol className="flow" aria-label="Route flow" tabIndex={0}>
        <Node kind="Source" icon={EnterIcon} title={<Name {...route.source} />}>
          {data && plural(data.eventsRouted + data.eventsFiltered, 'event')}
        </Node>
        {route.schema && (
          <Node kind="Schema" icon={FileTextIcon} title={<Name {...route.schema} />}>
            <Link to="/deliveries" search={{ ...mismatches, range } as never}>
              <Count list="listDeliveries" input={{ ...mismatches, ...since }} one="failed delivery" />
            </Link>
          </Node>
        )}
        {(route.filter || route.filterConditions) && (
          <Node
            kind="Filter"
            icon={MixerHorizontalIcon}
            title={
              route.filter ? (
                <Name {...route.filter} />
              ) : (
                <bdi title={conditions.join('\n')}>
                  {conditions.length === 1
                    ? shortened(conditions[0] ?? '', MOST_CHARACTERS)
                    : plural(conditions.length, 'condition')}
                </bdi>
              )
            }
          >
            {data && `${countText(data.eventsFiltered)} filtered out`}
          </Node>
        )}
        {route.transform && (
          <Node kind="Transform" icon={CodeIcon} title={<Name {...route.transform} />}>
            {data && `${countText(data.eventsRouted)} routed`}
          </Node>
        )}
        <li data-tone={isBroken ? 'warn' : undefined}>
          <ul className="branches">
            {route.destinations.map(({ id, name }) => (
              <Target key={id} kind="Destination" {...{ id, name }} metrics={byDestination.data} isBroken={isBroken} />
            ))}
            {route.failoverDestinationIds.map((id, index) => (
              <Target key={id} kind={`Failover ${index + 1}`} id={id} name={nameOf(id)} metrics={byDestination.data} />
            ))}
          </ul>
        </li>
      </ol>
      {data && (
        <p className="small quiet">
          {countText(data.deliveriesSucceeded)} delivered, {countText(data.deliveriesFailed)} failed, average latency{' '}
          {data.avgLatency === 0 ? '–' : durationText(data.avgLatency)}
        </p>
      )}
    </Card>
  );
}

interface NodeProps {
  kind: string;
  icon: ComponentType;
  title: ReactNode;
  tone?: Tone | undefined;
  isFailover?: boolean;
  children: ReactNode;
}

function Node({ kind, icon: Icon, title, tone, isFailover = false, children }: NodeProps) {
  return (
    <li data-tone={tone} data-failover={isFailover ? '' : undefined}>
      <div className="node box">
        <div>
          <Icon />
          {kind}
        </div>
        <strong>{title}</strong>
        <div className="small quiet">{children}</div>
      </div>
    </li>
  );
}

interface TargetProps {
  kind: string;
  id: string;
  name: string;
  metrics: Metrics | undefined;
  isBroken?: boolean;
}

function Target({ kind, id, name, metrics, isBroken = false }: TargetProps) {
  const total = metrics?.series.find((one) => one.id === id)?.total;
  const failed = (total?.failed ?? 0) + (total?.notSent ?? 0);
  const tone: Tone | undefined = isBroken ? 'warn' : failed > 0 ? 'bad' : total?.delivered ? 'ok' : undefined;
  const isFailover = kind.startsWith('Failover');
  return (
    <Node
      {...{ kind, tone, isFailover }}
      icon={isFailover ? ShuffleIcon : ExitIcon}
      title={<Name id={id} name={name} />}
    >
      {metrics && `${countText(total?.delivered ?? 0)} delivered, ${countText(failed)} failed`}
      {(total?.failedOver ?? 0) > 0 && `, ${countText(total?.failedOver ?? 0)} failed over`}
    </Node>
  );
}
