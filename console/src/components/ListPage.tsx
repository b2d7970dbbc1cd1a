// The page of a list: filters, which the address has, its records, and a way to make one.
import { Button } from '@mantine/core';
import { PlusIcon } from '@radix-ui/react-icons';
import { useNavigate } from '@tanstack/react-router';
import type { ListName } from '@hookyard/client';
import type { ReactNode } from 'react';
import { type SingleScope, useMay } from '../api/caller.tsx';
import type { Input, Item } from '../api/client.ts';
import type { ApiCall } from '../api/curl.ts';
import type { CursorList } from '../api/every.ts';
import { useAsk } from '../api/queries.ts';
import type { Total } from '../format.ts';
import { pageOf, type Search, usePageSearch } from '../search.ts';
import { type Column, DataTable, type Selection } from './DataTable.tsx';
import { ExportMenu } from './ExportMenu.tsx';
import { Filters } from './filters.tsx';
import { Page } from './Page.tsx';
import { Empty } from './ui.tsx';

const PAGE_SIZE = 50;

interface Make {
  label: string;
  to: string;
  search?: Record<string, string>;
  scope: SingleScope;
}

type Row<N extends ListName> = Item<N> & { id: string };

interface Props<N extends ListName> {
  title: string;
  list: N;
  /** What it is asked besides the page. */
  input?: Partial<Input<N>>;
  columns: Column<Item<N>>[];
  /** Asks again every so many ms. */
  every?: number;
  /** Each record has its page below it. */
  path?: string;
  /** What opens a record that has no page of its own. */
  onOpen?: (row: Row<N>) => void;
  /** The button to a form, for keys with this scope. */
  make?: Make;
  filters?: ReactNode;
  views?: Record<string, Search>;
  /** The list takes a cursor: all that match can be saved. */
  hasCursor?: boolean;
  /** Between the filters and the records; in the place of the filters while rows are selected. */
  children?: ReactNode;
  selection?: Selection | undefined;
  /** What the list holds, shown when there is no record. */
  empty: { title: string; text: string };
}

export function ListPage<N extends ListName>({ title, list, columns, path, empty, onOpen, ...props }: Props<N>) {
  const [search, set] = usePageSearch();
  const navigate = useNavigate();
  const input = { page: pageOf(search), pageSize: PAGE_SIZE, ...props.input } as Input<N>;
  const { data, error, isFetching, refetch } = useAsk(list, input, { keep: true, every: props.every ?? false });
  const answer = data as { data: Row<N>[]; pagination: Total & { page: number; pageSize: number } } | undefined;
  const isFiltered = Object.entries(search).some(([name, value]) => name !== 'page' && value !== undefined);
  const make = props.make && <MakeButton {...props.make} />;
  const open = path === undefined ? onOpen : ({ id }: Row<N>) => void navigate({ to: `${path}/${id}` });
  return (
    <Page
      title={title}
      actions={
        <>
          <ExportMenu
            call={{ name: list, input } as ApiCall}
            columns={columns}
            rows={answer?.data ?? []}
            all={props.hasCursor ? { list: list as CursorList, filters: props.input as object } : undefined}
          />
          {make}
        </>
      }
    >
      {(props.filters || props.views) && <Filters views={props.views}>{props.filters}</Filters>}
      {props.children}
      <DataTable<Row<N>>
        title={title}
        columns={columns}
        idOf={({ id }) => id}
        answer={{ data: answer, error, isFetching, refetch }}
        selection={props.selection}
        onOpen={open}
        onPage={(page) => set({ page: String(page) })}
        empty={
          isFiltered ? (
            <Empty title={`No matching ${title.toLowerCase()}`}>
              <Button
                variant="default"
                onClick={() => set(Object.fromEntries(Object.keys(search).map((name) => [name, undefined])))}
              >
                Clear filters
              </Button>
            </Empty>
          ) : (
            <Empty title={empty.title}>
              <span>{empty.text}</span>
            </Empty>
          )
        }
      />
    </Page>
  );
}

function MakeButton({ label, to, search = {}, scope }: Make) {
  const navigate = useNavigate();
  if (!useMay(scope)) return null;
  return (
    <Button leftSection={<PlusIcon />} onClick={() => void navigate({ to, search: search as never })}>
      {label}
    </Button>
  );
}
