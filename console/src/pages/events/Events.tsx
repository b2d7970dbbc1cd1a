// Every webhook that came in: filtered, searched, and live.
import { Link } from '@tanstack/react-router';
import type { Event } from '@hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { beginColumn, type Column } from '../../components/DataTable.tsx';
import { type Filter, inputOf } from '../../components/filters.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { LiveLine, LiveSwitch, useLive } from '../../live/Live.tsx';
import { rangeOf, type Search, usePageSearch } from '../../search.ts';
import { eventState } from '../../words.ts';

export const STATUSES = ['pending', 'delivered', 'partial', 'failed'] as const;
const VIEWS = {
  Failed: { status: 'failed' },
  'Partially delivered': { status: 'partial' },
  'Not routed': { routed: 'false' },
};
const MORE = { isMore: true, scope: 'deliveries:read' } as const;
const FILTERS = [
  { name: 'search', label: 'Payload contains', kind: 'search' },
  { name: 'sourceId', label: 'Source', kind: 'record', list: 'listSources' },
  { name: 'status', label: 'Status', kind: 'several', choices: STATUSES },
  { name: 'routed', label: 'Routed', kind: 'flag', ...MORE },
  { name: 'routeId', label: 'Route', kind: 'record', list: 'listRoutes', ...MORE },
  { name: 'destinationId', label: 'Destination', kind: 'record', list: 'listDestinations', ...MORE },
] as const satisfies Filter[];

const columns: Column<Event>[] = [
  beginColumn('Received', '/events', (event) => event.receivedAt),
  { title: 'Status', value: eventState, as: 'status' },
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

/** Filters for which rows have to be read. */
const isSearch = ({ search, routeId, destinationId }: Search): boolean =>
  [search, routeId, destinationId].some((value) => value !== undefined);

export function Events() {
  const [search, set] = usePageSearch();
  const isLive = search.live === 'on';
  const mayStart = useMay('sources:write');
  const { state, every } = useLive({ ...rangeOf(search, '24h'), ...inputOf(search, FILTERS) }, isLive);
  return (
    <ListPage
      of="event"
      list="listEvents"
      filters={FILTERS}
      range="24h"
      views={VIEWS}
      searches={isSearch}
      columns={columns}
      every={(part) => every(part?.data)}
      actions={<LiveSwitch isOn={isLive} state={state} set={(live) => set({ live: live ? 'on' : undefined })} />}
      empty={
        <>
          Events in this time range appear here. To see older ones, choose a longer range.{' '}
          {mayStart && <Link to="/start">Send a test webhook</Link>}
        </>
      }
    >
      <LiveLine state={state} />
    </ListPage>
  );
}
