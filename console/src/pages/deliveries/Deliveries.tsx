// Deliveries: what failed and why, and what to do about one, some, or all that match.
import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { BulkAction } from '../../api/bulk.ts';
import { useMay } from '../../api/caller.tsx';
import { type Filters as ListFilters, questionOf, usePart } from '../../api/parts.ts';
import { DataTable } from '../../components/DataTable.tsx';
import { ExportMenu } from '../../components/ExportMenu.tsx';
import { ChoiceFilter, Filters, RecordFilter, SeveralFilter, TextFilter } from '../../components/filters.tsx';
import { Page } from '../../components/Page.tsx';
import { Searched } from '../../components/Searched.tsx';
import { Empty } from '../../components/ui.tsx';
import { countText } from '../../format.ts';
import { pageOf, rangeOf, type Search, severalOf, usePageSearch } from '../../search.ts';
import { isOpen, LANE_NAMES, STATUS_NAMES } from '../../words/deliveries.ts';
import { Bulk } from './Bulk.tsx';
import { columns } from './columns.tsx';

const OPEN_MS = 5000;
const RESPONSES = [
  { value: '2xx', label: '2xx success' },
  { value: '3xx', label: '3xx redirect' },
  { value: '4xx', label: '4xx client error' },
  { value: '5xx', label: '5xx server error' },
  { value: 'none', label: 'no response' },
] as const;
const VERBS: Record<BulkAction, string> = { retry: 'Retry now', replay: 'Replay', cancel: 'Cancel' };
const VIEWS = {
  Failed: { status: 'failed' },
  Retrying: { status: 'retrying' },
  Held: { status: 'circuit_open' },
  Delivered: { status: 'delivered' },
};

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
  const all = total === undefined ? 'All matching' : `All ${countText(total)} matching`;
  return (
    <Page
      title="Deliveries"
      actions={
        <ExportMenu
          call={{ name: 'listDeliveries', input }}
          columns={columns}
          rows={answer.data?.data ?? []}
          all={{ list: 'listDeliveries', filters: filter }}
        />
      }
    >
      <Filters
        views={VIEWS}
        more={
          <>
            <RecordFilter name="routeId" label="Route" list="listRoutes" />
            <RecordFilter name="sourceId" label="Source" list="listSources" />
            <ChoiceFilter name="codeClass" label="Response" choices={RESPONSES} />
            <ChoiceFilter name="lane" label="Lane" choices={LANE_NAMES} />
            <TextFilter name="eventId" label="Event ID" />
          </>
        }
      >
        <SeveralFilter name="status" label="Status" choices={STATUS_NAMES} />
        <RecordFilter name="destinationId" label="Destination" list="listDestinations" />
        <TextFilter name="statusCode" label="Status code" />
        <TextFilter name="error" label="Error contains" isSearch />
      </Filters>
      {mayWrite && hasSome && !answer.error && (
        <section className="row" aria-label="Bulk actions">
          <span className="quiet">{ids.size > 0 ? `${countText(ids.size)} selected` : all}</span>
          {actionsOf(filter.status).map((action) => (
            <Button key={action} variant="default" onClick={() => begin(action)}>
              {VERBS[action]}
            </Button>
          ))}
          {ids.size > 0 && (
            <Button variant="subtle" onClick={() => setIds(new Set())}>
              Clear selection
            </Button>
          )}
        </section>
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
        empty={
          answer.data?.search?.nextCursor ? (
            <Empty title="No matches so far">Continue searching below.</Empty>
          ) : (
            <Empty title="No deliveries">Choose a longer time range or remove a filter.</Empty>
          )
        }
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

/** What can be done with deliveries of these statuses; with those of any all of it, to those to which it applies. */
function actionsOf(statuses: readonly Status[] = STATUS_NAMES): BulkAction[] {
  return [
    ...(statuses.includes('retrying') ? (['retry'] as const) : []),
    ...(statuses.every(isOpen) ? [] : (['replay'] as const)),
    ...(statuses.some(isOpen) ? (['cancel'] as const) : []),
  ];
}

/** Filters for which rows have to be read. */
const isDeliverySearch = ({ statusCode, codeClass, error, lane, eventId }: ListFilters<'listDeliveries'>): boolean =>
  eventId === undefined && [statusCode, codeClass, error, lane].some((value) => value !== undefined);

function filterOf(search: Search) {
  return {
    ...rangeOf(search, '24h'),
    status: severalOf(search.status, STATUS_NAMES),
    destinationId: search.destinationId,
    routeId: search.routeId,
    sourceId: search.sourceId,
    codeClass: RESPONSES.find(({ value }) => value === search.codeClass)?.value,
    // What is no number the API refuses, and says so.
    statusCode: search.statusCode === undefined ? undefined : Number(search.statusCode),
    lane: LANE_NAMES.find((lane) => lane === search.lane),
    error: search.error,
    eventId: search.eventId,
  };
}
