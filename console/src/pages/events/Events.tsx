// Every webhook that came in: filtered, searched, and live.
import { Group } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { Event } from 'hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { questionOf } from '../../api/parts.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { ChoiceFilter, RangeFilter, RecordFilter, SeveralFilter, TextFilter } from '../../components/filters.tsx';
import { flagOf } from '../../components/flags.ts';
import { Page } from '../../components/Page.tsx';
import { Searched, SO_FAR } from '../../components/Searched.tsx';
import { Status } from '../../components/Status.tsx';
import { plain, sizeText } from '../../format.ts';
import { LiveLine, LiveSwitch } from '../../live/LiveSwitch.tsx';
import { isEventSearch, useLiveEvents } from '../../live/useLiveEvents.ts';
import { pageOf, rangeOf, type Search, severalOf, usePageSearch } from '../../search.ts';
import { Time } from '../../zone.tsx';

const STATUSES = ['pending', 'delivered', 'partial', 'failed'] as const;

const columns: Column<Event>[] = [
  { title: 'Received', cell: (event) => <Time at={event.receivedAt} />, csv: (event) => event.receivedAt },
  { title: 'Source', cell: (event) => plain(event.source.name), csv: (event) => event.source.name },
  { title: 'Status', cell: (event) => <Status of={event.status} />, csv: (event) => event.status },
  {
    title: 'Routed',
    cell: (event) => (event.routed ? 'yes' : 'no route took it'),
    csv: (event) => String(event.routed),
    wideOnly: true,
  },
  {
    title: 'Delivered',
    cell: (event) => `${event.deliveriesSucceeded} of ${event.deliveriesCount}`,
    csv: (event) => `${event.deliveriesSucceeded} of ${event.deliveriesCount}`,
  },
  {
    title: 'Size',
    cell: (event) => sizeText(event.payloadSize),
    csv: (event) => event.payloadSize,
    numeric: true,
    wideOnly: true,
  },
  {
    title: 'Event',
    cell: (event) => <Link to={`/events/${event.id}`}>{event.id}</Link>,
    csv: (event) => event.id,
    wideOnly: true,
  },
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
  return (
    <Page
      title="Events"
      actions={
        <>
          <LiveSwitch isOn={isLive} state={state} set={follow} />
          <CopyMenu
            call={{ name: 'listEvents', input }}
            columns={columns}
            rows={answer.data?.data ?? []}
            all={{ list: 'listEvents', filters }}
          />
        </>
      }
    >
      <Group align="end" gap="xs" mb="sm">
        <RangeFilter byDefault="24h" />
        <RecordFilter name="sourceId" label="Source" list="listSources" />
        <SeveralFilter name="status" label="Status" choices={STATUSES} />
        <ChoiceFilter
          name="routed"
          label="Routed"
          choices={[
            { value: 'true', label: 'by a route' },
            { value: 'false', label: 'no route took it' },
          ]}
        />
        {maySeeDeliveries && <RecordFilter name="routeId" label="Route" list="listRoutes" />}
        {maySeeDeliveries && <RecordFilter name="destinationId" label="Destination" list="listDestinations" />}
        <TextFilter name="search" label="Payload contains" placeholder="Enter searches" />
      </Group>
      <LiveLine state={state} />
      <DataTable
        title="Events"
        columns={columns}
        idOf={(event) => event.id}
        answer={answer}
        onOpen={(event) => void navigate({ to: `/events/${event.id}` })}
        onPage={(page) => set({ page: String(page), live: undefined })}
        foot={
          answer.data?.search && (
            <Searched
              list="listEvents"
              filters={filters}
              shown={answer.data.data.length}
              reached={answer.data.search}
            />
          )
        }
        empty={
          answer.data?.search?.nextCursor ? (
            SO_FAR
          ) : (
            <>
              No webhook came in that time, or none that matches. Look at a longer time
              {mayStart && (
                <>
                  , or <Link to="/start">send a first one</Link>
                </>
              )}
              .
            </>
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
