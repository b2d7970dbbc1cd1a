// One route: its flow with figures, its circuit breaker, a test with a past event, and its settings.
import type { Route } from '@hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { Charts } from '../../charts/Figures.tsx';
import { RecordActions } from '../../components/actions.tsx';
import { Count } from '../../components/Count.tsx';
import { IssuesOf } from '../../components/IssuesOf.tsx';
import { Pause, Resume } from '../../components/Pausing.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { Mono, PageLink, stateOf } from '../../components/ui.tsx';
import { exactTime } from '../../forms/recordPages.tsx';
import { plain } from '../../format.ts';
import { useRangeName } from '../../search.ts';
import { Circuit } from './Circuit.tsx';
import { Flow } from './Flow.tsx';
import { Settings } from './RouteForm.tsx';
import { DeletedRoute } from './Routes.tsx';
import { TryIt } from './TryIt.tsx';

export function RoutePage() {
  return (
    <RecordPage
      get="getRoute"
      what="route"
      status={stateOf}
      disabled="New events are stored, but not delivered by this route. You can replay them after you enable the route."
      warning="An outage can block ordering keys"
      actions={(route) => <Actions route={route} />}
      tabs={(route) => ({
        Overview: <Shown route={route} />,
        Preview: <TryIt route={route} />,
        Settings: (
          <Settings
            key={route.updatedAt}
            of={route}
            more={{
              'Addresses that receive no email': plain(route.withheldEmails.join(', ')),
              Created: exactTime(route.createdAt),
              Updated: exactTime(route.updatedAt),
              ID: <Mono text={route.id} />,
            }}
          />
        ),
      })}
    >
      {(route) => <IssuesOf of={{ routeId: route.id }} />}
    </RecordPage>
  );
}

function Shown({ route }: { route: Route }) {
  const range = useRangeName();
  const maySee = useMay('deliveries:read');
  const of = { routeId: route.id };
  return (
    <>
      <Flow route={route} range={range} />
      <Circuit route={route} />
      <Charts show={['routed', 'deliveries']} of={of} />
      {maySee && (
        <div className="row row-loose">
          <PageLink to="/deliveries" search={{ ...of, range: '24h' }}>
            View deliveries
          </PageLink>
          <PageLink to="/deliveries" search={{ ...of, range: '7d', status: 'failed', replayed: 'false' }}>
            View failed deliveries not replayed (last 7 days)
          </PageLink>
        </div>
      )}
    </>
  );
}

function Actions({ route }: { route: Route }) {
  const mayWrite = useMay('routes:write');
  if (!mayWrite) return null;
  const { id } = route;
  return (
    <>
      <Resume kind="route" of={route} />
      <RecordActions
        kind="route"
        of={route}
        disabling={<p>New events are stored, but not delivered by this route. Open deliveries continue.</p>}
        enabling={<p>The route will receive new events again. You can replay events received while it was disabled.</p>}
        deleting={
          <>
            <p>
              The route's history contains <Count list="listDeliveries" input={{ routeId: id }} one="delivery" />.
            </p>
            <DeletedRoute />
          </>
        }
        more={{ Pause: !route.paused && <Pause kind="route" id={id} /> }}
      />
    </>
  );
}
