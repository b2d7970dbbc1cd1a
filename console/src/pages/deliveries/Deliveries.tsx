// Deliveries: what failed and why, and what to do about one, some, or all that match.
import { Button, Group, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { DataTable } from '../../components/DataTable.tsx';
import { ChoiceFilter, RangeFilter, RecordFilter, TextFilter } from '../../components/filters.tsx';
import { Page } from '../../components/Page.tsx';
import { countText } from '../../format.ts';
import { pageOf, rangeOf, type Search, usePageSearch } from '../../search.ts';
import { Bulk } from './Bulk.tsx';
import type { BulkAction } from '../../api/bulk.ts';
import { useDeliveryColumns } from './columns.tsx';

const OPEN_MS = 5000;
export const STATUSES = [
  'pending',
  'retrying',
  'circuit_open',
  'delivered',
  'failed',
  'failed_over',
  'schema_failed',
  'filter_failed',
  'skipped',
  'cancelled',
] as const;

export function Deliveries() {
  const [search, set] = usePageSearch();
  const navigate = useNavigate();
  const mayWrite = useMay('deliveries:write');
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [bulk, setBulk] = useState<{ action: BulkAction; ids: string[] | null } | null>(null);
  const filter = filterOf(search);
  const input = { ...filter, page: pageOf(search), pageSize: 50 };
  const answer = useAsk('listDeliveries', input, { keep: true, every: OPEN_MS });
  const columns = useDeliveryColumns();
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
        <ChoiceFilter name="status" label="Status" choices={STATUSES} />
        <RecordFilter name="destinationId" label="Destination" list="listDestinations" />
        <RecordFilter name="routeId" label="Route" list="listRoutes" />
        <TextFilter name="eventId" label="Event" placeholder="evt_…" />
      </Group>
      {mayWrite && total > 0 && !answer.error && (
        <Group gap="xs" mb="sm">
          <Text size="sm">With {which}:</Text>
          {(['retry', 'replay', 'cancel'] as const).map((action) => (
            <Button key={action} size="xs" variant="default" onClick={() => begin(action)}>
              {{ retry: 'Retry now', replay: 'Replay', cancel: 'Cancel' }[action]}
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

function filterOf(search: Search) {
  return {
    ...rangeOf(search, '24h'),
    status: STATUSES.find((status) => status === search.status),
    destinationId: search.destinationId,
    routeId: search.routeId,
    eventId: search.eventId,
  };
}
