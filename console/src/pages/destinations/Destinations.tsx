// Destinations: where deliveries go, and how well they are accepted there.
import type { DestinationSummary } from '@hookyard/client';
import { useState } from 'react';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { ConfirmedAction } from '../../components/actions.tsx';
import { type Column, nameColumn } from '../../components/DataTable.tsx';
import { ChoiceFilter, flagOf, TextFilter, YES_NO } from '../../components/filters.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { Status } from '../../components/ui.tsx';
import { countText, plural } from '../../format.ts';
import { usePageSearch } from '../../search.ts';
import { TYPES } from './values.ts';

const AGAIN_MS = 10_000;
const MOST_AT_ONCE = 100;

/** Where it leads: a URL, or a place in a store. */
const placeOf = (one: DestinationSummary): string =>
  one.type === 'http' ? one.url : (one.config.bucket ?? one.config.containerName ?? '');
const rateOf = (one: DestinationSummary) => (one.type === 'http' ? one.successRate : null);

const stateOf = ({ enabled, paused }: { enabled: boolean; paused: boolean }): string =>
  enabled ? (paused ? 'paused' : 'enabled') : 'disabled';

const columns: Column<DestinationSummary>[] = [
  nameColumn(),
  { title: 'Status', value: stateOf, cell: (one) => <Status of={stateOf(one)} /> },
  { title: 'Type', value: (one) => TYPES[one.type], wideOnly: true },
  { title: 'URL or bucket', value: placeOf, wideOnly: true },
  {
    title: 'Success rate',
    value: rateOf,
    cell: (one) => (rateOf(one) === null ? '–' : `${rateOf(one)}%`),
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
  const [search] = usePageSearch();
  const mayWrite = useMay('destinations:write');
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const chosen = plural(ids.size, 'destination');
  const remove = async () => {
    const body = { ids: [...ids].slice(0, MOST_AT_ONCE) };
    return `${countText((await call('deleteDestinations', { body })).deleted)} deleted`;
  };
  return (
    <ListPage
      title="Destinations"
      list="listDestinations"
      input={{ search: search.search, enabled: flagOf(search, 'enabled') }}
      columns={columns}
      every={AGAIN_MS}
      path="/destinations"
      make={{ label: 'New destination', to: '/destinations/new', scope: 'destinations:write' }}
      filters={
        <>
          <TextFilter name="search" label="Name or URL" isSearch />
          <ChoiceFilter name="enabled" label="Enabled" choices={YES_NO} />
        </>
      }
      selection={mayWrite ? { ids, set: setIds } : undefined}
      empty={{
        title: 'No destinations',
        text: 'A destination is an HTTP endpoint or a warehouse that receives events.',
      }}
    >
      {mayWrite && ids.size > 0 && (
        <div className="row">
          <ConfirmedAction
            label={`Delete ${chosen}`}
            verb={`Delete ${chosen}`}
            isDestructive
            onDone={() => setIds(new Set())}
            run={remove}
          >
            <p>
              The destinations are removed from all routes, and their open deliveries are cancelled. The delivery
              history is kept. This cannot be undone.
            </p>
          </ConfirmedAction>
        </div>
      )}
    </ListPage>
  );
}
