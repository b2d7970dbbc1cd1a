// Deliveries: what failed and why, and what to do about one, some, or all that match.
import { Button, Group, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { BulkAction } from '../../api/bulk.ts';
import { useMay } from '../../api/caller.tsx';
import { type Filters, questionOf, usePart } from '../../api/parts.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { DataTable } from '../../components/DataTable.tsx';
import { Facts } from '../../components/Facts.tsx';
import { ChoiceFilter, RangeFilter, RecordFilter, SeveralFilter, TextFilter } from '../../components/filters.tsx';
import { Page } from '../../components/Page.tsx';
import { Searched, SO_FAR } from '../../components/Searched.tsx';
import { countText } from '../../format.ts';
import { pageOf, rangeOf, type Search, severalOf, usePageSearch } from '../../search.ts';
import { isOpen, LANE_NAMES, STATUS_NAMES, STATUSES } from '../../words/deliveries.ts';
import { Bulk } from './Bulk.tsx';
import { columns } from './columns.tsx';

const OPEN_MS = 5000;
const ANSWERS = [
  { value: '2xx', label: '2xx: it went well' },
  { value: '3xx', label: '3xx: another address' },
  { value: '4xx', label: '4xx: the request is wrong' },
  { value: '5xx', label: '5xx: the receiver is broken' },
  { value: 'none', label: 'no answer' },
] as const;
const NONE = 'No delivery was made in that time, or none that matches. Look at a longer time, or take a filter away.';
const VERBS: Record<BulkAction, string> = { retry: 'Retry now', replay: 'Replay', cancel: 'Cancel' };

export function Deliveries() {
  const [search, set] = usePageSearch();
  const navigate = useNavigate();
  const mayWrite = useMay('deliveries:write');
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [bulk, setBulk] = useState<{ action: BulkAction; ids: string[] | null } | null>(null);
  const filter = filterOf(search);
  const where = { page: pageOf(search), pageSize: 50, cursor: search.cursor };
  const isSearch = isDeliverySearch(filter);
  const input = questionOf<'listDeliveries'>(filter, where, isSearch);
  const answer = usePart('listDeliveries', filter, where, { isSearch, every: OPEN_MS });
  const total = answer.data?.pagination?.total;
  const hasSome = (answer.data?.data.length ?? 0) > 0;
  const begin = (action: BulkAction) => setBulk({ action, ids: ids.size > 0 ? [...ids] : null });
  const which =
    ids.size > 0
      ? `${countText(ids.size)} selected`
      : total === undefined
        ? 'all that match'
        : `all ${countText(total)} that match`;
  return (
    <Page
      title="Deliveries"
      actions={
        <CopyMenu
          call={{ name: 'listDeliveries', input }}
          columns={columns}
          rows={answer.data?.data ?? []}
          all={{ list: 'listDeliveries', filters: filter }}
        />
      }
    >
      <Group align="end" gap="xs" mb="sm">
        <RangeFilter byDefault="24h" />
        <SeveralFilter name="status" label="Status" choices={STATUS_NAMES} />
        <RecordFilter name="destinationId" label="Destination" list="listDestinations" />
        <RecordFilter name="routeId" label="Route" list="listRoutes" />
        <RecordFilter name="sourceId" label="Source" list="listSources" />
        <ChoiceFilter name="codeClass" label="Answer" choices={ANSWERS} />
        <TextFilter name="statusCode" label="Code" placeholder="503" />
        <TextFilter name="error" label="Error contains" placeholder="Enter searches" />
        <ChoiceFilter name="lane" label="First attempt by" choices={LANE_NAMES} />
        <TextFilter name="eventId" label="Event" placeholder="evt_…" />
      </Group>
      <details>
        <summary>What the words of the status mean</summary>
        <Facts of={MEANINGS} />
      </details>
      {mayWrite && hasSome && !answer.error && (
        <Group gap="xs" mb="sm">
          <Text size="sm">With {which}:</Text>
          {actionsOf(filter.status).map((action) => (
            <Button key={action} size="xs" variant="default" onClick={() => begin(action)}>
              {VERBS[action]}
            </Button>
          ))}
          {ids.size > 0 && (
            <Button size="xs" variant="subtle" onClick={() => setIds(new Set())}>
              Clear the selection
            </Button>
          )}
        </Group>
      )}
      <DataTable
        title="Deliveries"
        columns={columns}
        idOf={(delivery) => delivery.id}
        answer={answer}
        selection={mayWrite ? { ids, set: setIds } : undefined}
        onOpen={(delivery) => void navigate({ to: `/deliveries/${delivery.id}` })}
        onPage={(page) => set({ page: String(page) })}
        foot={
          answer.data?.search && (
            <Searched
              list="listDeliveries"
              filters={filter}
              shown={answer.data.data.length}
              reached={answer.data.search}
            />
          )
        }
        empty={answer.data?.search?.nextCursor ? SO_FAR : NONE}
      />
      {bulk && (
        <Bulk
          {...bulk}
          filter={filter}
          onClose={() => {
            setBulk(null);
            setIds(new Set());
          }}
        />
      )}
    </Page>
  );
}

type Status = (typeof STATUS_NAMES)[number];
const MEANINGS = STATUS_NAMES.map((status): [string, string] => [status.replaceAll('_', ' '), STATUSES[status].means]);

/** What can be done with deliveries of these statuses; with those of any all of it, to those to which it applies. */
function actionsOf(statuses: readonly Status[] = STATUS_NAMES): BulkAction[] {
  return [
    ...(statuses.includes('retrying') ? (['retry'] as const) : []),
    ...(statuses.every(isOpen) ? [] : (['replay'] as const)),
    ...(statuses.some(isOpen) ? (['cancel'] as const) : []),
  ];
}

/** Filters for which rows have to be read. */
const isDeliverySearch = ({ statusCode, codeClass, error, lane, eventId }: Filters<'listDeliveries'>): boolean =>
  eventId === undefined && [statusCode, codeClass, error, lane].some((value) => value !== undefined);

function filterOf(search: Search) {
  return {
    ...rangeOf(search, '24h'),
    status: severalOf(search.status, STATUS_NAMES),
    destinationId: search.destinationId,
    routeId: search.routeId,
    sourceId: search.sourceId,
    codeClass: ANSWERS.find(({ value }) => value === search.codeClass)?.value,
    // What is no number the API refuses, and says so.
    statusCode: search.statusCode === undefined ? undefined : Number(search.statusCode),
    lane: LANE_NAMES.find((lane) => lane === search.lane),
    error: search.error,
    eventId: search.eventId,
  };
}
