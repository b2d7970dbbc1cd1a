// The page of a list: filters, which the address has, its records, what can be done with many, and a way to make one.
import { Button } from '@mantine/core';
import { PlusIcon } from './icons.tsx';
import { useNavigate } from '@tanstack/react-router';
import type { ListName } from '@hookyard/client';
import { type ReactNode, useState } from 'react';
import { type SingleScope, useMay } from '../api/caller.tsx';
import { type Input, type Item, told } from '../api/client.ts';
import type { ApiCall } from '../api/curl.ts';
import { type Part, type Reached, usePart } from '../api/lists.ts';
import { AGAIN_MS, useAsk, type PageKind, pathOf } from '../api/queries.ts';
import { countText, pluralOf, sentence, type Total, totalText } from '../format.ts';
import { pageOf, type RangeName, rangeOf, type Search, usePageSearch } from '../search.ts';
import { Time } from '../zone.tsx';
import { type Column, DataTable } from './DataTable.tsx';
import { ExportMenu, saveAll } from './ExportMenu.tsx';
import { type Filter, Filters, filtersIn, inputOf, without } from './filters.tsx';
import { Page } from './Page.tsx';
import { Empty } from './ui.tsx';

const PAGE_SIZE = 50;
/** Where a list by cursor begins. */
const FIRST = 'first';
/** They take a cursor: all that match can be saved. */
const BY_CURSOR: readonly ListName[] = ['listEvents', 'listDeliveries', 'listIssues', 'listAuditRecords'];

type Row<N extends ListName> = Item<N> & { id: string };
type Name<N extends ListName> = keyof Exclude<Input<N>, undefined> & string;

interface Selected<N extends ListName> {
  ids: string[];
  /** Of the page that is shown. */
  rows: Row<N>[];
  clear: () => void;
  filters: Partial<Input<N>>;
  /** Of all that match; undefined while it is not known. */
  total: Total | undefined;
}

interface Props<N extends ListName> {
  /** What the list holds: `source`. */
  of: PageKind;
  /** The title of the page, if it is not what the list holds. */
  heading?: string;
  list: N;
  filters?: readonly Filter<Name<N>>[];
  /** It shows a time range, this one at first. */
  range?: RangeName;
  views?: Record<string, Search>;
  /** Names of filters for which rows have to be read. */
  searches?: (filters: Search) => boolean;
  columns: Column<Item<N>>[];
  /** The time between two requests, ms. */
  every?: number | ((part: Part<Item<N>> | undefined) => number | false);
  /** What opens a record, if that is not its page; false: nothing does. */
  onOpen?: false | ((row: Row<N>) => void);
  /** There is a button to a form, for keys with this scope. */
  make?: SingleScope;
  /** What the form begins with. */
  makeWith?: Search;
  actions?: ReactNode;
  /** What can be done with records that are selected; without it none can be. */
  bulk?: false | ((selected: Selected<N>) => ReactNode);
  /** Between the filters and the records. */
  children?: ReactNode;
  /** What the list holds, shown when there is no record. */
  empty: ReactNode;
}

export function ListPage<N extends ListName>({ of, list, columns, empty, make, makeWith, ...props }: Props<N>) {
  const { filters: declared = [], range, bulk } = props;
  const path = pathOf(of);
  const title = sentence(pluralOf(of));
  const [search, set] = usePageSearch();
  const navigate = useNavigate();
  const mayMake = useMay(make) && make !== undefined;
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const filters = { ...(range && rangeOf(search, range)), ...inputOf(search, declared) } as Partial<Input<N>>;
  const isSearch = props.searches?.(search) ?? false;
  const place = isSearch ? { cursor: search.cursor ?? FIRST } : { page: pageOf(search) };
  const input = { ...place, pageSize: PAGE_SIZE, ...filters } as Input<N>;
  const answer = usePart(list, input, { isSearch, every: props.every ?? AGAIN_MS });
  const rows = answer.data?.data ?? [];
  const reached = answer.data?.search;
  const found = filtersIn(search);
  const total = answer.data?.pagination;
  const chosen =
    bulk &&
    rows.length > 0 &&
    !answer.error &&
    bulk({ ids: [...ids], rows: rows as Row<N>[], clear: () => setIds(new Set()), filters, total });
  const { onOpen = ({ id }: Row<N>) => void navigate({ to: `${path}/${id}` }) } = props;
  return (
    <Page
      title={props.heading ?? title}
      actions={
        <>
          {props.actions}
          <ExportMenu
            call={{ name: list, input } as ApiCall}
            columns={columns}
            rows={rows}
            isLabelled
            onSaveAll={BY_CURSOR.includes(list) ? () => saveAll(list, filters, columns) : undefined}
          />
          {mayMake && (
            <Button
              leftSection={<PlusIcon />}
              onClick={() => void navigate({ to: `${path}/new`, search: makeWith as never })}
            >
              New {of}
            </Button>
          )}
        </>
      }
    >
      {(declared.length > 0 || props.views) && <Filters of={declared} views={props.views} />}
      {props.children}
      {chosen && (
        <section className="row" aria-label="Bulk actions">
          {chosen}
        </section>
      )}
      <DataTable<Row<N>>
        title={title}
        columns={columns}
        idOf={({ id }) => id}
        answer={answer as typeof answer & { data: { data: Row<N>[] } | undefined }}
        selection={bulk ? { ids, set: setIds } : undefined}
        onOpen={onOpen || undefined}
        onPage={(page) => set({ page: String(page) })}
        foot={reached && <Searched key={JSON.stringify(filters)} {...{ list, filters, reached }} shown={rows.length} />}
        empty={
          reached?.nextCursor ? (
            <Empty title="No matches so far">Continue searching below.</Empty>
          ) : Object.keys(found).length > 0 ? (
            <Empty title={`No matching ${title.toLowerCase()}`}>
              <Button variant="default" onClick={() => set(without(found))}>
                Clear filters
              </Button>
            </Empty>
          ) : (
            <Empty title={`No ${pluralOf(of)}`}>
              <span>{empty}</span>
            </Empty>
          )
        }
      />
    </Page>
  );
}

interface SearchedProps<N extends ListName> {
  list: N;
  filters: Partial<Input<N>>;
  shown: number;
  reached: Reached;
}

/**
 * Below a list by cursor: how far it was searched, how it continues, and how many there are, if one asks: counting
 * reads many rows.
 */
function Searched<N extends ListName>({ list, filters, shown, reached }: SearchedProps<N>) {
  const [{ cursor }, set] = usePageSearch();
  const [isAsked, setAsked] = useState(false);
  const { nextCursor, searchedUntil } = reached;
  const input = { ...filters, cursor: FIRST, pageSize: 1, withTotal: true } as unknown as Input<N>;
  const { data, error } = useAsk(list, input, { enabled: isAsked });
  const total = (data as { pagination: Total } | undefined)?.pagination;
  return (
    <div className="row row-between">
      <span className="small quiet" role="status" data-shown={shown}>
        {countText(shown)} {cursor === undefined ? 'shown' : 'more shown'}
        {nextCursor === null && ', end of results'}
        {searchedUntil !== null && (
          <>
            , searched back to <Time at={searchedUntil} exact />
          </>
        )}
        {error && `. Could not count the results: ${told(error).message}`}
        {total && (
          <>
            , <strong data-count={total.total}>{totalText(total)} in total</strong>
          </>
        )}{' '}
        {!error && !total && (nextCursor !== null || cursor !== undefined) && (
          <Button size="compact-xs" variant="default" loading={isAsked} onClick={() => setAsked(true)}>
            Count all
          </Button>
        )}
      </span>
      <div className="row">
        {cursor !== undefined && (
          <Button variant="default" onClick={() => set({ cursor: undefined })}>
            Newest
          </Button>
        )}
        {nextCursor !== null && (
          <Button variant="default" onClick={() => set({ cursor: nextCursor })}>
            {searchedUntil === null ? 'Older' : 'Continue searching'}
          </Button>
        )}
      </div>
    </div>
  );
}
