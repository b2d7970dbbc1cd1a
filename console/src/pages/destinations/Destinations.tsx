// Destinations: where deliveries go, and how well they are accepted there.
import type { DestinationSummary } from '@hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { ConfirmedAction } from '../../components/actions.tsx';
import { type Column, nameColumn } from '../../components/DataTable.tsx';
import type { Filter } from '../../components/filters.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { stateOf } from '../../components/ui.tsx';
import { countText, percentText, plural } from '../../format.ts';
import { TYPES } from './values.ts';

const MOST_AT_ONCE = 100;
const FILTERS = [
  { name: 'search', label: 'Name or URL', kind: 'search' },
  { name: 'enabled', label: 'Enabled', kind: 'flag' },
] as const satisfies Filter[];

/** Where it leads: a URL, or a place in a store. */
const placeOf = (one: DestinationSummary): string =>
  one.type === 'http' ? one.url : (one.config.bucket ?? one.config.containerName ?? '');
const rateOf = (one: DestinationSummary) => (one.type === 'http' ? one.successRate : null);

const columns: Column<DestinationSummary>[] = [
  nameColumn(),
  { title: 'Status', value: stateOf, as: 'status' },
  { title: 'Type', value: (one) => TYPES[one.type], wideOnly: true },
  { title: 'URL or bucket', value: placeOf, wideOnly: true },
  {
    title: 'Success rate',
    value: rateOf,
    cell: (one) => (rateOf(one) === null ? '–' : percentText(rateOf(one) ?? 0)),
    numeric: true,
  },
  { title: 'Latency', value: (one) => (one.type === 'http' ? one.avgLatency : null), as: 'duration', wideOnly: true },
  {
    title: 'Deliveries',
    value: (one) => (one.type === 'http' ? one.deliveriesCount : null),
    as: 'count',
    wideOnly: true,
  },
  { title: 'ID', value: (one) => one.id, as: 'id', wideOnly: true },
];

export function Destinations() {
  const mayWrite = useMay('destinations:write');
  return (
    <ListPage<'listDestinations'>
      of="destination"
      list="listDestinations"
      filters={FILTERS}
      columns={columns}
      make="destinations:write"
      bulk={
        mayWrite &&
        (({ ids, clear }) => {
          const chosen = plural(ids.length, 'destination');
          return (
            ids.length > 0 && (
              <ConfirmedAction
                label={`Delete ${chosen}`}
                isDestructive
                onDone={clear}
                run={() => call('deleteDestinations', { body: { ids: ids.slice(0, MOST_AT_ONCE) } })}
                said={({ deleted }) => `${countText(deleted)} deleted`}
              >
                <p>
                  Each destination is removed from all routes, and its open deliveries are cancelled. The delivery
                  history is kept. This cannot be undone.
                </p>
              </ConfirmedAction>
            )
          );
        })
      }
      empty="A destination is an HTTP endpoint or a warehouse that receives events."
    />
  );
}
