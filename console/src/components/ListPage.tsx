// The page of a list: filters, which the address has, its records, and a way to make one.
import { Button, Group } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ListName } from 'hookyard/client';
import type { ReactNode } from 'react';
import { type SingleScope, useMay } from '../api/caller.tsx';
import type { Input, Item } from '../api/client.ts';
import type { ApiCall } from '../api/curl.ts';
import type { CursorList } from '../api/every.ts';
import { useAsk } from '../api/queries.ts';
import type { Total } from '../format.ts';
import { pageOf, usePageSearch } from '../search.ts';
import { CopyMenu } from './CopyMenu.tsx';
import { type Column, DataTable, type Selection } from './DataTable.tsx';
import { Page } from './Page.tsx';

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
  /** Below it each record has its page; without it none has one. */
  path?: string;
  /** The button to a form, for keys with this scope. */
  make?: Make;
  filters?: ReactNode;
  /** The list takes a cursor: all that match can be saved. */
  hasCursor?: boolean;
  /** Between the filters and the records. */
  children?: ReactNode;
  selection?: Selection | undefined;
  /** What to say when there is none; and when none matches the filters. */
  empty: ReactNode;
  noMatch?: ReactNode;
}

export function ListPage<N extends ListName>({ title, list, columns, path, empty, ...props }: Props<N>) {
  const [search, set] = usePageSearch();
  const navigate = useNavigate();
  const input = { page: pageOf(search), pageSize: PAGE_SIZE, ...props.input } as Input<N>;
  const { data, error, isFetching, refetch } = useAsk(list, input, { keep: true, every: props.every ?? false });
  const answer = data as { data: Row<N>[]; pagination: Total & { page: number; pageSize: number } } | undefined;
  const isFiltered = Object.entries(search).some(([name, value]) => name !== 'page' && value !== undefined);
  return (
    <Page
      title={title}
      actions={
        <>
          {props.make && <MakeButton {...props.make} />}
          <CopyMenu
            call={{ name: list, input } as ApiCall}
            columns={columns}
            rows={answer?.data ?? []}
            all={props.hasCursor ? { list: list as CursorList, filters: props.input as object } : undefined}
          />
        </>
      }
    >
      {props.filters && (
        <Group align="end" gap="xs" mb="sm">
          {props.filters}
        </Group>
      )}
      {props.children}
      <DataTable<Row<N>>
        title={title}
        columns={columns}
        idOf={({ id }) => id}
        answer={{ data: answer, error, isFetching, refetch }}
        selection={props.selection}
        onOpen={path === undefined ? undefined : ({ id }) => void navigate({ to: `${path}/${id}` })}
        onPage={(page) => set({ page: String(page) })}
        empty={isFiltered ? (props.noMatch ?? 'None matches.') : empty}
      />
    </Page>
  );
}

function MakeButton({ label, to, search = {}, scope }: Make) {
  const navigate = useNavigate();
  if (!useMay(scope)) return null;
  return (
    <Button size="xs" onClick={() => void navigate({ to, search: search as never })}>
      {label}
    </Button>
  );
}
