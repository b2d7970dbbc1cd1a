// Destinations: where deliveries go, and how well they are taken there.
import { Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { DestinationSummary } from 'hookyard/client';
import { useState } from 'react';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import type { Column } from '../../components/DataTable.tsx';
import { ConfirmedAction } from '../../components/ConfirmedAction.tsx';
import { ChoiceFilter, TextFilter } from '../../components/filters.tsx';
import { flagOf, YES_NO } from '../../components/flags.ts';
import { ListPage } from '../../components/ListPage.tsx';
import { PausedBadge } from '../../components/Pausing.tsx';
import { countText, durationText, plain } from '../../format.ts';
import { usePageSearch } from '../../search.ts';

const AGAIN_MS = 10_000;
const MOST_AT_ONCE = 100;

/** Where it leads: an address, or a place in a store. */
const placeOf = (one: DestinationSummary): string =>
  one.type === 'http' ? one.url : (one.config.bucket ?? one.config.containerName ?? '');
const rateOf = (one: DestinationSummary) => (one.type === 'http' ? one.successRate : null);
const latencyOf = (one: DestinationSummary) => (one.type === 'http' ? one.avgLatency : null);

const columns: Column<DestinationSummary>[] = [
  {
    title: 'Destination',
    cell: (one) => (
      <Link to={`/destinations/${one.id}`}>
        <bdi>{plain(one.name)}</bdi>
      </Link>
    ),
    csv: (one) => one.name,
  },
  { title: 'Type', cell: (one) => one.type.replaceAll('_', ' '), csv: (one) => one.type },
  { title: 'Where', cell: (one) => <bdi>{plain(placeOf(one))}</bdi>, csv: placeOf, wideOnly: true },
  { title: 'Enabled', cell: (one) => (one.enabled ? 'yes' : 'no'), csv: (one) => String(one.enabled) },
  { title: 'Paused', cell: (one) => <PausedBadge of={one} />, csv: (one) => String(one.paused) },
  {
    title: 'Succeeded',
    cell: (one) => (rateOf(one) === null ? '-' : `${rateOf(one)} %`),
    csv: rateOf,
    numeric: true,
  },
  {
    title: 'Latency',
    cell: (one) => {
      const ms = latencyOf(one);
      return ms === null ? '-' : durationText(ms);
    },
    csv: latencyOf,
    numeric: true,
    wideOnly: true,
  },
  {
    title: 'Deliveries',
    cell: (one) => (one.type === 'http' ? countText(one.deliveriesCount) : '-'),
    csv: (one) => (one.type === 'http' ? one.deliveriesCount : null),
    numeric: true,
    wideOnly: true,
  },
  { title: 'Id', cell: (one) => one.id, csv: (one) => one.id, wideOnly: true },
];

export function Destinations() {
  const [search] = usePageSearch();
  const mayWrite = useMay('destinations:write');
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const chosen = `${countText(ids.size)} ${ids.size === 1 ? 'destination' : 'destinations'}`;
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
          <TextFilter name="search" label="Name or address" />
          <ChoiceFilter name="enabled" label="Enabled" choices={YES_NO} />
        </>
      }
      selection={mayWrite ? { ids, set: setIds } : undefined}
      empty="There is no destination: deliveries have nowhere to go."
    >
      {mayWrite && ids.size > 0 && (
        <Group mb="sm">
          <ConfirmedAction
            label={`Delete ${chosen}`}
            verb={`Delete ${chosen}`}
            isDestructive
            onDone={() => setIds(new Set())}
            run={async () => {
              const body = { ids: [...ids].slice(0, MOST_AT_ONCE) };
              return `${countText((await call('deleteDestinations', { body })).deleted)} deleted`;
            }}
          >
            They are taken out of all routes, and their open deliveries are cancelled. What was delivered stays in the
            history. This cannot be undone.
          </ConfirmedAction>
        </Group>
      )}
    </ListPage>
  );
}
