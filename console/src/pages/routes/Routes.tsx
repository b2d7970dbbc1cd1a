// Routes: where webhooks lead, whether they flow, and what holds them.
import { Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Route } from 'hookyard/client';
import { useState } from 'react';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import type { Column } from '../../components/DataTable.tsx';
import { ConfirmedAction } from '../../components/ConfirmedAction.tsx';
import { ChoiceFilter, RecordFilter } from '../../components/filters.tsx';
import { flagOf, YES_NO } from '../../components/flags.ts';
import { ListPage } from '../../components/ListPage.tsx';
import { PausedBadge } from '../../components/Pausing.tsx';
import { Status } from '../../components/Status.tsx';
import { countText, plain } from '../../format.ts';
import { usePageSearch } from '../../search.ts';
import { Time } from '../../zone.tsx';

const AGAIN_MS = 5000;
/** Of the API: ids of one bulk request. */
const MOST_AT_ONCE = 100;
const CIRCUITS = ['open', 'half_open', 'closed'] as const;
const namesOf = (records: { name: string }[]) => records.map(({ name }) => name).join(', ');

const columns: Column<Route>[] = [
  {
    title: 'Route',
    cell: (route) => (
      <Link to={`/routes/${route.id}`}>
        <bdi>{plain(route.name)}</bdi>
      </Link>
    ),
    csv: (route) => route.name,
  },
  { title: 'Circuit', cell: (route) => <Status of={route.circuitState} />, csv: (route) => route.circuitState },
  { title: 'Enabled', cell: (route) => (route.enabled ? 'yes' : 'no'), csv: (route) => String(route.enabled) },
  { title: 'Paused', cell: (route) => <PausedBadge of={route} />, csv: (route) => String(route.paused) },
  { title: 'Source', cell: (route) => <bdi>{plain(route.source.name)}</bdi>, csv: (route) => route.source.name },
  {
    title: 'Destinations',
    cell: (route) => <bdi>{plain(namesOf(route.destinations))}</bdi>,
    csv: (route) => namesOf(route.destinations),
  },
  {
    title: 'On the way',
    cell: (route) =>
      [
        route.schema && 'schema',
        (route.filter || route.filterConditions) && 'filter',
        route.transform && 'transform',
        route.failoverDestinationIds.length > 0 && 'failover',
      ]
        .filter(Boolean)
        .join(', ') || '-',
    wideOnly: true,
  },
  {
    title: 'Events',
    cell: (route) => countText(route.eventsRouted),
    csv: (route) => route.eventsRouted,
    numeric: true,
    wideOnly: true,
  },
  {
    title: 'Last event',
    cell: (route) => <Time at={route.lastEventAt} />,
    csv: (route) => route.lastEventAt,
    wideOnly: true,
  },
  { title: 'Id', cell: (route) => route.id, csv: (route) => route.id, wideOnly: true },
];

const EMPTY =
  'No route leads there. A route takes the webhooks of a source to destinations; without one they are stored, and go nowhere.';

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
          <ChoiceFilter name="circuitState" label="Circuit" choices={CIRCUITS} />
          <ChoiceFilter name="enabled" label="Enabled" choices={YES_NO} />
        </>
      }
      selection={mayWrite ? { ids, set: setIds } : undefined}
      empty={EMPTY}
      noMatch={EMPTY}
    >
      {mayWrite && ids.size > 0 && <Many ids={[...ids]} onDone={() => setIds(new Set())} />}
    </ListPage>
  );
}

function Many({ ids, onDone }: { ids: string[]; onDone: () => void }) {
  const count = `${countText(ids.length)} ${ids.length === 1 ? 'route' : 'routes'}`;
  const routeIds = ids.slice(0, MOST_AT_ONCE);
  const enable = (isActive: boolean) => async () => {
    const { updated } = await call('pauseRoutes', { body: { routeIds, isActive } });
    return `${countText(updated)} ${isActive ? 'enabled' : 'disabled'}`;
  };
  return (
    <Group gap="xs" mb="sm">
      <Text size="sm">With {count}:</Text>
      <ConfirmedAction
        label="Disable"
        title={`Disable ${count}`}
        verb={`Disable ${count}`}
        run={enable(false)}
        onDone={onDone}
      >
        They take no new webhooks until somebody enables them. Webhooks that come meanwhile are stored without
        deliveries by these routes; deliveries that are under way continue.
      </ConfirmedAction>
      <ConfirmedAction
        label="Enable"
        title={`Enable ${count}`}
        verb={`Enable ${count}`}
        run={enable(true)}
        onDone={onDone}
      >
        They take webhooks that come from now on.
      </ConfirmedAction>
      <ConfirmedAction
        label="Delete"
        title={`Delete ${count}`}
        verb={`Delete ${count}`}
        isDestructive
        onDone={onDone}
        run={async () => {
          const { deleted } = await call('deleteRoutes', { body: { routeIds } });
          return `${countText(deleted)} deleted`;
        }}
      >
        <DeletedRoute />
      </ConfirmedAction>
    </Group>
  );
}

/** What it means that a route is deleted. */
export function DeletedRoute() {
  return (
    <Text>
      Sources, destinations, filters, schemas, transforms and the history stay, and open deliveries continue. Webhooks
      that come later go nowhere by it. This cannot be undone.
    </Text>
  );
}
