// Is everything fine? Four figures, what needs somebody, then charts. An empty installation opens on the guide instead.
import { lazy, Suspense } from 'react';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { Charts } from '../../charts/Figures.tsx';
import { Loading } from '../../components/Failed.tsx';
import { Page } from '../../components/Page.tsx';
import { Callout } from '../../components/ui.tsx';
import { useRangeName } from '../../search.ts';
import { Attention, State, useAttention } from './Attention.tsx';
import { Stats } from './Stats.tsx';

const Start = lazy(async () => ({ default: (await import('../start/Start.tsx')).Start }));

export function Overview() {
  const range = useRangeName();
  const maySee = useMay('deliveries:read');
  const mayStart = useMay('sources:write');
  const attention = useAttention();
  const routes = useAsk('listRoutes', { pageSize: 1 }, { enabled: mayStart, scope: 'routes:read' });
  if (routes.data?.pagination.total === 0)
    return (
      <Suspense fallback={<Loading />}>
        <Start />
      </Suspense>
    );
  return (
    <Page title="Overview" status={<State of={attention} />}>
      {maySee ? (
        <Stats range={range} />
      ) : (
        <Callout tone="info" title="No metrics">
          Metrics require the <code>deliveries:read</code> scope.
        </Callout>
      )}
      <Attention of={attention} />
      <Charts show={['received', 'ended', 'average', 'refused']} />
    </Page>
  );
}
