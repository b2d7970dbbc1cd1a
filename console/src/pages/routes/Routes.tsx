// Routes: which source leads to which destinations, and what holds them.
import type { Route } from '@hookyard/client';
import { useState } from 'react';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { ConfirmedAction } from '../../components/actions.tsx';
import { type Column, nameColumn } from '../../components/DataTable.tsx';
import { ChoiceFilter, flagOf, RecordFilter, YES_NO } from '../../components/filters.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { Status } from '../../components/ui.tsx';
import { countText, plural } from '../../format.ts';
import { usePageSearch } from '../../search.ts';

const AGAIN_MS = 5000;
/** Of the API: ids of one bulk request. */
const MOST_AT_ONCE = 100;
const CIRCUITS = ['open', 'half_open', 'closed'] as const;
const namesOf = (records: { name: string }[]) => records.map(({ name }) => name).join(', ');

const stateOf = ({ enabled, paused }: Route): string => (enabled ? (paused ? 'paused' : 'enabled') : 'disabled');
const rulesOf = (route: Route): string =>
  [
    route.schema && 'schema',
    (route.filter || route.filterConditions) && 'filter',
    route.transform && 'transform',
    route.failoverDestinationIds.length > 0 && 'failover',
  ]
    .filter(Boolean)
    .join(', ');

const columns: Column<Route>[] = [
  nameColumn(),
  { title: 'Status', value: stateOf, cell: (route) => <Status of={stateOf(route)} /> },
  { title: 'Circuit breaker', value: (route) => route.circuitState, as: 'status', wideOnly: true },
  { title: 'Source', value: (route) => route.source.name },
  { title: 'Destinations', value: (route) => namesOf(route.destinations) },
  { title: 'Rules', value: rulesOf, wideOnly: true },
  { title: 'Events', value: (route) => route.eventsRouted, as: 'count', wideOnly: true },
  { title: 'Last event', value: (route) => route.lastEventAt, as: 'time', wideOnly: true },
  { title: 'ID', value: (route) => route.id, as: 'id', wideOnly: true },
];

export function Routes() {
  const [search] = usePageSearch();
  const { sourceId, destinationId } = search;
  const circuitState = CIRCUITS.find((state) => state === search.circuitState);
  const mayWrite = useMay('routes:write');
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  return (
    <ListPage
      title="Routes"
      list="listRoutes"
      input={{ sourceId, destinationId, circuitState, enabled: flagOf(search, 'enabled') }}
      columns={columns}
      every={AGAIN_MS}
      path="/routes"
      make={{ label: 'New route', to: '/routes/new', scope: 'routes:write', search: sourceId ? { sourceId } : {} }}
      filters={
        <>
          <RecordFilter name="sourceId" label="Source" list="listSources" />
          <RecordFilter name="destinationId" label="Destination" list="listDestinations" />
          <ChoiceFilter name="circuitState" label="Circuit breaker" choices={CIRCUITS} />
          <ChoiceFilter name="enabled" label="Enabled" choices={YES_NO} />
        </>
      }
      selection={mayWrite ? { ids, set: setIds } : undefined}
      empty={{
        title: 'No routes',
        text: 'A route connects a source to destinations. Events without a route are stored, but not delivered.',
      }}
    >
      {mayWrite && ids.size > 0 && <Many ids={[...ids]} onDone={() => setIds(new Set())} />}
    </ListPage>
  );
}

function Many({ ids, onDone }: { ids: string[]; onDone: () => void }) {
  const count = plural(ids.length, 'route');
  const routeIds = ids.slice(0, MOST_AT_ONCE);
  const enable = (isActive: boolean) => async () => {
    const { updated } = await call('pauseRoutes', { body: { routeIds, isActive } });
    return `${countText(updated)} ${isActive ? 'enabled' : 'disabled'}`;
  };
  const remove = async () => `${countText((await call('deleteRoutes', { body: { routeIds } })).deleted)} deleted`;
  const named = (verb: string) => ({ label: verb, title: `${verb} ${count}`, verb: `${verb} ${count}`, onDone });
  return (
    <section className="row" aria-label="Bulk actions">
      <span className="quiet">{countText(ids.length)} selected</span>
      <ConfirmedAction {...named('Disable')} run={enable(false)}>
        <p>New events are stored, but not delivered by these routes. Deliveries in progress continue.</p>
      </ConfirmedAction>
      <ConfirmedAction {...named('Enable')} run={enable(true)}>
        <p>The routes receive new events again.</p>
      </ConfirmedAction>
      <ConfirmedAction {...named('Delete')} isDestructive run={remove}>
        <DeletedRoute />
        <p>This cannot be undone.</p>
      </ConfirmedAction>
    </section>
  );
}

/** What it means that a route is deleted. */
export function DeletedRoute() {
  return (
    <p>
      Sources, destinations, rules and the delivery history are kept, and open deliveries continue. New events are not
      routed.
    </p>
  );
}
