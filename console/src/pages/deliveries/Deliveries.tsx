// Deliveries: what failed and why, and what to do about one, some, or all that match.
import { Button } from '@mantine/core';
import { useState } from 'react';
import type { BulkAction, DeliveryFilter } from '../../api/bulk.ts';
import { useMay } from '../../api/caller.tsx';
import type { Filter } from '../../components/filters.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { HeldBy } from '../../components/Pausing.tsx';
import { countText, plural, type Total, totalText } from '../../format.ts';
import { type Search, usePageSearch } from '../../search.ts';
import { isOpen, LANE_NAMES, STATUS_NAMES } from '../../words.ts';
import { Bulk, WORDS } from './Bulk.tsx';
import { columns } from './columns.tsx';

const RESPONSES = [
  { value: '2xx', label: '2xx success' },
  { value: '3xx', label: '3xx redirect' },
  { value: '4xx', label: '4xx client error' },
  { value: '5xx', label: '5xx server error' },
  { value: 'none', label: 'no response' },
];
const FILTERS = [
  { name: 'status', label: 'Status', kind: 'several', choices: STATUS_NAMES },
  { name: 'replayed', label: 'Replayed', kind: 'flag' },
  { name: 'destinationId', label: 'Destination', kind: 'record', list: 'listDestinations' },
  { name: 'statusCode', label: 'Status code', kind: 'number' },
  { name: 'error', label: 'Error contains', kind: 'search' },
  { name: 'routeId', label: 'Route', kind: 'record', list: 'listRoutes', isMore: true },
  { name: 'sourceId', label: 'Source', kind: 'record', list: 'listSources', isMore: true },
  { name: 'codeClass', label: 'Response', kind: 'one', choices: RESPONSES, isMore: true },
  { name: 'lane', label: 'Lane', kind: 'one', choices: LANE_NAMES, isMore: true },
  { name: 'isReplay', label: 'Is a replay', kind: 'flag', isMore: true },
  { name: 'eventId', label: 'Event ID', kind: 'text', isMore: true },
] as const satisfies Filter[];
const VIEWS = {
  Failed: { status: 'failed' },
  'Failed, not replayed': { status: 'failed', replayed: 'false' },
  Retrying: { status: 'retrying' },
  Held: { status: 'circuit_open' },
  Delivered: { status: 'delivered' },
};

/** Filters for which rows have to be read. */
const isSearch = ({ statusCode, codeClass, error, lane, isReplay, replayed, status, eventId }: Search): boolean => {
  // An index has what failed.
  const ofReplayed = status === 'failed' ? undefined : replayed;
  const searched = [statusCode, codeClass, error, lane, isReplay, ofReplayed];
  return eventId === undefined && searched.some((value) => value !== undefined);
};

interface Begun {
  action: BulkAction;
  /** Null: all that match the filter. */
  ids: string[] | null;
  filter: DeliveryFilter;
  onEnd: () => void;
}

export function Deliveries() {
  const mayWrite = useMay('deliveries:write');
  const [bulk, setBulk] = useState<Begun | null>(null);
  const [{ status, routeId, destinationId }] = usePageSearch();
  return (
    <ListPage<'listDeliveries'>
      of="delivery"
      list="listDeliveries"
      filters={FILTERS}
      range="24h"
      views={VIEWS}
      searches={isSearch}
      columns={columns}
      bulk={
        mayWrite &&
        (({ ids: selected, rows, clear, filters, total }) =>
          (selected.length > 0 || isNarrow(filters)) && (
            <>
              {actionsOf(filters).map(({ action, isOfAll }) => {
                const replayed = new Set(rows.filter(({ replayedBy }) => replayedBy).map(({ id }) => id));
                const ids = action === 'replay' ? selected.filter((id) => !replayed.has(id)) : selected;
                return (
                  <Button
                    key={action}
                    variant="default"
                    c={action === 'cancel' ? 'var(--bad)' : undefined}
                    disabled={ids.length === 0 && selected.length > 0}
                    onClick={() =>
                      setBulk({
                        action,
                        ids: ids.length > 0 ? ids : null,
                        filter: filters as DeliveryFilter,
                        onEnd: clear,
                      })
                    }
                  >
                    {WORDS[action].verb}{' '}
                    {selected.length > 0
                      ? `${countText(ids.length)} selected`
                      : matchingText(isOfAll ? total : undefined)}
                    …
                  </Button>
                );
              })}
              {selected.length > 0 && (
                <Button variant="subtle" onClick={clear}>
                  Clear selection
                </Button>
              )}
            </>
          ))
      }
      empty="Deliveries in this time range appear here. To see older ones, choose a longer range."
    >
      {status === 'circuit_open' && <HeldBy routeId={routeId} destinationId={destinationId} />}
      {bulk && (
        <Bulk
          {...bulk}
          onClose={() => {
            setBulk(null);
            bulk.onEnd();
          }}
        />
      )}
    </ListPage>
  );
}

/** Whether it says how deliveries ended or wait: nothing is offered for all deliveries, whatever became of them. */
const isNarrow = (filters: Partial<DeliveryFilter> = {}): boolean =>
  [filters.status, filters.statusCode, filters.codeClass, filters.error].some((value) => value !== undefined);

type Status = (typeof STATUS_NAMES)[number];

/** What can be done with deliveries that match; with those of any status all of it, to those to which it applies. */
function actionsOf({ status = [...STATUS_NAMES], replayed }: Partial<DeliveryFilter> = {}) {
  const statuses = [status].flat() as Status[];
  const can = {
    retry: (status: Status) => status === 'retrying',
    replay: (status: Status) => !isOpen(status),
    cancel: isOpen,
  };
  return (Object.keys(can) as BulkAction[])
    .filter((action) => statuses.some(can[action]) && !(action === 'replay' && replayed))
    .map((action) => ({ action, isOfAll: statuses.every(can[action]) && (action !== 'replay' || replayed === false) }));
}

/** Not counted where an action is of some of those that match. */
const matchingText = (of: Total | undefined): string =>
  of === undefined ? 'matching deliveries' : plural(of.total, 'delivery', totalText(of));
