// Destinations: where deliveries go, and how well they are taken there.
import { Button, Group } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { DestinationSummary } from 'hookyard/client';
import { useState } from 'react';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { useAsk } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { Deed } from '../../components/Deed.tsx';
import { ChoiceFilter, TextFilter } from '../../components/filters.tsx';
import { Page } from '../../components/Page.tsx';
import { PausedBadge } from '../../components/Pausing.tsx';
import { countText, durationText, plain } from '../../format.ts';
import { pageOf, usePageSearch } from '../../search.ts';

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
  const [search, set] = usePageSearch();
  const navigate = useNavigate();
  const mayWrite = useMay('destinations:write');
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const input = {
    page: pageOf(search),
    pageSize: 50,
    search: search.search,
    enabled: search.enabled === undefined ? undefined : search.enabled === 'true',
  };
  const answer = useAsk('listDestinations', input, { keep: true, every: AGAIN_MS });
  const chosen = `${countText(ids.size)} ${ids.size === 1 ? 'destination' : 'destinations'}`;
  return (
    <Page
      title="Destinations"
      actions={
        <>
          {mayWrite && (
            <Button size="xs" onClick={() => void navigate({ to: '/destinations/new' })}>
              New destination
            </Button>
          )}
          <CopyMenu call={{ name: 'listDestinations', input }} columns={columns} rows={answer.data?.data ?? []} />
        </>
      }
    >
      <Group align="end" gap="xs" mb="sm">
        <TextFilter name="search" label="Name or address" />
        <ChoiceFilter
          name="enabled"
          label="Enabled"
          choices={[
            { value: 'true', label: 'yes' },
            { value: 'false', label: 'no' },
          ]}
        />
      </Group>
      {mayWrite && ids.size > 0 && (
        <Group mb="sm">
          <Deed
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
          </Deed>
        </Group>
      )}
      <DataTable<DestinationSummary>
        title="Destinations"
        columns={columns}
        idOf={(one) => one.id}
        answer={answer}
        selection={mayWrite ? { ids, set: setIds } : undefined}
        onOpen={(one) => void navigate({ to: `/destinations/${one.id}` })}
        onPage={(page) => set({ page: String(page) })}
        empty={
          search.search || search.enabled ? 'None matches.' : 'There is no destination: deliveries have nowhere to go.'
        }
      />
    </Page>
  );
}
