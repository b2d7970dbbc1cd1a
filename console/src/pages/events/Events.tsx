// Every webhook that came in: filtered, searched, and live.
import { Link, useNavigate } from '@tanstack/react-router';
import type { Event } from '@hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { questionOf } from '../../api/parts.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { ExportMenu } from '../../components/ExportMenu.tsx';
import {
  ChoiceFilter,
  Filters,
  flagOf,
  RecordFilter,
  SeveralFilter,
  TextFilter,
  YES_NO,
} from '../../components/filters.tsx';
import { Page } from '../../components/Page.tsx';
import { Searched } from '../../components/Searched.tsx';
import { Empty } from '../../components/ui.tsx';
import { LiveLine, LiveSwitch } from '../../live/LiveSwitch.tsx';
import { isEventSearch, useLiveEvents } from '../../live/useLiveEvents.ts';
import { pageOf, rangeOf, type Search, severalOf, usePageSearch } from '../../search.ts';
import { Time } from '../../zone.tsx';

const STATUSES = ['pending', 'delivered', 'partial', 'failed'] as const;
const VIEWS = {
  Failed: { status: 'failed' },
  'Partially delivered': { status: 'partial' },
  Unrouted: { routed: 'false' },
};

const columns: Column<Event>[] = [
  {
    title: 'Received',
    value: (event) => event.receivedAt,
    cell: (event) => (
      <Link to={`/events/${event.id}`}>
        <Time at={event.receivedAt} />
      </Link>
    ),
  },
  { title: 'Status', value: (event) => event.status, as: 'status' },
  { title: 'Source', value: (event) => event.source.name },
  { title: 'Routed', value: (event) => event.routed, wideOnly: true },
  {
    title: 'Delivered',
    value: (event) => `${event.deliveriesSucceeded} of ${event.deliveriesCount}`,
    numeric: true,
  },
  { title: 'Size', value: (event) => event.payloadSize, as: 'size', wideOnly: true },
  { title: 'ID', value: (event) => event.id, as: 'id', wideOnly: true },
];

export function Events() {
  const [search, set] = usePageSearch();
  const navigate = useNavigate();
  const isLive = search.live === 'on';
  const maySeeDeliveries = useMay('deliveries:read');
  const mayStart = useMay('sources:write');
  const filters = filtersOf(search);
  const where = { page: isLive ? 1 : pageOf(search), pageSize: 50, cursor: isLive ? undefined : search.cursor };
  const { answer, state } = useLiveEvents(filters, where, isLive);
  const input = questionOf<'listEvents'>(filters, where, isEventSearch(filters));
  const follow = (live: boolean) => {
    set({ live: live ? 'on' : undefined });
    // What stands still is as of now.
    if (!live) void answer.refetch();
  };
  const reached = answer.data?.search;
  return (
    <Page
      title="Events"
      actions={
        <>
          <LiveSwitch isOn={isLive} state={state} set={follow} />
          <ExportMenu
            call={{ name: 'listEvents', input }}
            columns={columns}
            rows={answer.data?.data ?? []}
            all={{ list: 'listEvents', filters }}
          />
        </>
      }
    >
      <Filters
        views={VIEWS}
        more={
          maySeeDeliveries && (
            <>
              <ChoiceFilter name="routed" label="Routed" choices={YES_NO} />
              <RecordFilter name="routeId" label="Route" list="listRoutes" />
              <RecordFilter name="destinationId" label="Destination" list="listDestinations" />
            </>
          )
        }
      >
        <TextFilter name="search" label="Payload contains" isSearch />
        <RecordFilter name="sourceId" label="Source" list="listSources" />
        <SeveralFilter name="status" label="Status" choices={STATUSES} />
      </Filters>
      <LiveLine state={state} />
      <DataTable
        title="Events"
        columns={columns}
        idOf={(event) => event.id}
        answer={answer}
        onOpen={(event) => void navigate({ to: `/events/${event.id}` })}
        onPage={(page) => set({ page: String(page), live: undefined })}
        foot={
          reached && (
            <Searched list="listEvents" filters={filters} shown={answer.data?.data.length ?? 0} reached={reached} />
          )
        }
        empty={
          reached?.nextCursor ? (
            <Empty title="No matches so far">Continue searching below.</Empty>
          ) : (
            <Empty title="No events">
              Choose a longer time range or remove a filter.
              {mayStart && <Link to="/start">Send a sample webhook</Link>}
            </Empty>
          )
        }
      />
    </Page>
  );
}

function filtersOf(search: Search) {
  return {
    ...rangeOf(search, '24h'),
    sourceId: search.sourceId,
    status: severalOf(search.status, STATUSES),
    routed: flagOf(search, 'routed'),
    routeId: search.routeId,
    destinationId: search.destinationId,
    search: search.search,
  };
}
