// Deliveries: what failed and why, and what to do about one, some, or all that match.
import { Button, Group, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { BulkAction } from '../../api/bulk.ts';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { DataTable } from '../../components/DataTable.tsx';
import { Facts } from '../../components/Facts.tsx';
import { ChoiceFilter, RangeFilter, RecordFilter, TextFilter } from '../../components/filters.tsx';
import { Page } from '../../components/Page.tsx';
import { TooBroad } from '../../components/TooBroad.tsx';
import { countText } from '../../format.ts';
import { pageOf, rangeOf, type Search, usePageSearch } from '../../search.ts';
import { isOpen, STATUS_NAMES, STATUSES } from '../../words/deliveries.ts';
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
const VERBS: Record<BulkAction, string> = { retry: 'Retry now', replay: 'Replay', cancel: 'Cancel' };

export function Deliveries() {
  const [search, set] = usePageSearch();
  const navigate = useNavigate();
  const mayWrite = useMay('deliveries:write');
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [bulk, setBulk] = useState<{ action: BulkAction; ids: string[] | null } | null>(null);
  const filter = filterOf(search);
  const input = { ...filter, page: pageOf(search), pageSize: 50 };
  const answer = useAsk('listDeliveries', input, { keep: true, every: OPEN_MS });
  const total = answer.data?.pagination.total ?? 0;
  const begin = (action: BulkAction) => setBulk({ action, ids: ids.size > 0 ? [...ids] : null });
  const which = ids.size > 0 ? `${countText(ids.size)} selected` : `all ${countText(total)} that match`;
  return (
    <Page
      title="Deliveries"
      actions={<CopyMenu call={{ name: 'listDeliveries', input }} columns={columns} rows={answer.data?.data ?? []} />}
    >
      <Group align="end" gap="xs" mb="sm">
        <RangeFilter byDefault="24h" />
        <ChoiceFilter name="status" label="Status" choices={STATUS_NAMES} />
        <RecordFilter name="destinationId" label="Destination" list="listDestinations" />
        <RecordFilter name="routeId" label="Route" list="listRoutes" />
        <RecordFilter name="sourceId" label="Source" list="listSources" />
        <ChoiceFilter name="codeClass" label="Answer" choices={ANSWERS} />
        <TextFilter name="error" label="Error contains" placeholder="Enter searches" />
        <TextFilter name="eventId" label="Event" placeholder="evt_…" />
      </Group>
      <details>
        <summary>What the words of the status mean</summary>
        <Facts of={MEANINGS} />
      </details>
      <TooBroad error={answer.error} />
      {mayWrite && total > 0 && !answer.error && (
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
        empty="No delivery was made in that time, or none that matches. Look at a longer time, or take a filter away."
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

/** What can be done with deliveries of a status; with those of any all of it, to those to which it applies. */
function actionsOf(status: Status | undefined): BulkAction[] {
  if (status === undefined) return ['retry', 'replay', 'cancel'];
  if (!isOpen(status)) return ['replay'];
  return status === 'retrying' ? ['retry', 'cancel'] : ['cancel'];
}

function filterOf(search: Search) {
  return {
    ...rangeOf(search, '24h'),
    status: STATUS_NAMES.find((status) => status === search.status),
    destinationId: search.destinationId,
    routeId: search.routeId,
    sourceId: search.sourceId,
    codeClass: ANSWERS.find(({ value }) => value === search.codeClass)?.value,
    error: search.error,
    eventId: search.eventId,
  };
}
