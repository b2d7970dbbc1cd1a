// Routes: which source leads to which destinations, and what holds them.
import type { Route } from '@hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { ConfirmedAction } from '../../components/actions.tsx';
import { type Column, nameColumn } from '../../components/DataTable.tsx';
import type { Filter } from '../../components/filters.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { stateOf } from '../../components/ui.tsx';
import { countText, plural } from '../../format.ts';
import { usePageSearch } from '../../search.ts';

/** Of the API: ids of one bulk request. */
const MOST_AT_ONCE = 100;
const FILTERS = [
  { name: 'sourceId', label: 'Source', kind: 'record', list: 'listSources' },
  { name: 'destinationId', label: 'Destination', kind: 'record', list: 'listDestinations' },
  { name: 'circuitState', label: 'Circuit breaker', kind: 'one', choices: ['open', 'half_open', 'closed'] },
  { name: 'enabled', label: 'Enabled', kind: 'flag' },
] as const satisfies Filter[];
const namesOf = (records: { name: string }[]) => records.map(({ name }) => name).join(', ');

const rulesOf = (route: Route): string =>
  [
    route.schema && 'schema',
    (route.filter || route.filterConditions) && 'filter',
    route.transform && 'transform',
    route.failoverDestinationIds.length > 0 && 'failover',
    route.ordering && 'ordering',
  ]
    .filter(Boolean)
    .join(', ');

const columns: Column<Route>[] = [
  nameColumn(),
  { title: 'Status', value: stateOf, as: 'status' },
  { title: 'Circuit breaker', value: (route) => route.circuitState, as: 'status', wideOnly: true },
  { title: 'Source', value: (route) => route.source.name },
  { title: 'Destinations', value: (route) => namesOf(route.destinations) },
  { title: 'Rules', value: rulesOf, wideOnly: true },
  { title: 'Events', value: (route) => route.eventsRouted, as: 'count', wideOnly: true },
  { title: 'Last event', value: (route) => route.lastEventAt, as: 'time', wideOnly: true },
  { title: 'ID', value: (route) => route.id, as: 'id', wideOnly: true },
];

export function Routes() {
  const [{ sourceId, destinationId }] = usePageSearch();
  const mayWrite = useMay('routes:write');
  return (
    <ListPage<'listRoutes'>
      of="route"
      list="listRoutes"
      filters={FILTERS}
      columns={columns}
      make="routes:write"
      makeWith={{ sourceId, destinationId }}
      bulk={mayWrite && (({ ids, clear }) => ids.length > 0 && <Many ids={ids} onDone={clear} />)}
      empty="A route connects a source to destinations. Events without a route are stored, but not delivered."
    />
  );
}

function Many({ ids, onDone }: { ids: string[]; onDone: () => void }) {
  const count = plural(ids.length, 'route');
  const routeIds = ids.slice(0, MOST_AT_ONCE);
  const named = (verb: string) => ({ label: verb, title: `${verb} ${count}`, onDone });
  const enable = (isActive: boolean) => ({
    ...named(isActive ? 'Enable' : 'Disable'),
    run: () => call('pauseRoutes', { body: { routeIds, isActive } }),
    said: ({ updated }: { updated: number }) => `${countText(updated)} ${isActive ? 'enabled' : 'disabled'}`,
  });
  return (
    <>
      <span className="quiet">{countText(ids.length)} selected</span>
      <ConfirmedAction {...enable(false)}>
        <p>New events are stored, but not delivered by these routes. Open deliveries continue.</p>
      </ConfirmedAction>
      <ConfirmedAction {...enable(true)}>
        <p>The routes will receive new events again. You can replay events received while they were disabled.</p>
      </ConfirmedAction>
      <ConfirmedAction
        {...named('Delete')}
        isDestructive
        run={() => call('deleteRoutes', { body: { routeIds } })}
        said={({ deleted }) => `${countText(deleted)} deleted`}
      >
        <DeletedRoute />
        <p>This cannot be undone.</p>
      </ConfirmedAction>
    </>
  );
}

/** What it means that a route is deleted. */
export function DeletedRoute() {
  return (
    <p>
      Sources, destinations, filters, schemas, transforms and the delivery history are kept. Open deliveries continue,
      but no new ones are created.
    </p>
  );
}
