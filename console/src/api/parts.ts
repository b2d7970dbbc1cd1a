// A part of a list that grows: a page, with its total, or what follows a cursor. Pages are for what mostly is found at
// once. Where many rows may have to be read it is the cursor: nothing is counted unless one asks, and a search that
// takes long says how far it has come.
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { Total } from '../format.ts';
import { call, type Input, type Item } from './client.ts';

export type GrowingList = 'listEvents' | 'listDeliveries';
/** Where a list by cursor begins. */
const FIRST = 'first';
/** How long one waits for a part before it is shown as it is, ms. */
const ENOUGH_MS = 3000;
/** A search is repeated less often than a page is asked for, ms. */
const SEARCH_AGAIN_MS = 15_000;

/** Filters, without what says which part. */
export type Filters<N extends GrowingList> = Omit<
  Exclude<Input<N>, undefined>,
  'page' | 'pageSize' | 'cursor' | 'withTotal' | 'orgId'
>;

export interface Where {
  page: number;
  pageSize: number;
  cursor: string | undefined;
}

export interface Part<Row> {
  data: Row[];
  /** Of a page. */
  pagination?: Total & { page: number; pageSize: number };
  /** Of what follows a cursor. */
  search?: Reached;
}

export interface Reached {
  /** Null: there is no more. */
  nextCursor: string | null;
  /** Since when all was looked at; null: nothing was left out. */
  searchedUntil: string | null;
}

type Answer<N extends GrowingList> = {
  data: Item<N>[];
  pagination: Total & { page: number; pageSize: number } & Reached;
};

/** The question for a part, as the API takes it. */
export function questionOf<N extends GrowingList>(filters: Filters<N>, where: Where, isSearch: boolean): Input<N> {
  const { page, pageSize, cursor } = where;
  return { ...filters, pageSize, ...(isSearch ? { cursor: cursor ?? FIRST } : { page }) } as unknown as Input<N>;
}

interface Options {
  /** Rows have to be read for these filters. */
  isSearch: boolean;
  /** Asks for the page again every so many ms. */
  every?: number | false;
}

export function usePart<N extends GrowingList>(
  name: N,
  filters: Filters<N>,
  where: Where,
  { isSearch, every = false }: Options,
): UseQueryResult<Part<Item<N>>> {
  const question = questionOf(filters, where, isSearch);
  return useQuery<Part<Item<N>>>({
    queryKey: [name, 'part', question],
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => {
      if (!isSearch) return every;
      return every !== false && state.data?.search?.searchedUntil === null && SEARCH_AGAIN_MS;
    },
    queryFn: async ({ signal }): Promise<Part<Item<N>>> => {
      if (isSearch) return searched(name, question, where.pageSize, signal);
      const { data, pagination } = (await call(name, question, { signal })) as Answer<N>;
      return { data, pagination };
    },
  });
}

/** Continues until the part is full, there is no more, or it takes too long to wait for. */
async function searched<N extends GrowingList>(
  name: N,
  question: Input<N>,
  pageSize: number,
  signal: AbortSignal,
): Promise<Part<Item<N>>> {
  const data: Item<N>[] = [];
  const endAt = performance.now() + ENOUGH_MS;
  let next = question;
  for (;;) {
    const answer = (await call(name, next, { signal })) as Answer<N>;
    data.push(...answer.data);
    const { nextCursor, searchedUntil } = answer.pagination;
    const isDone = nextCursor === null || data.length >= pageSize || performance.now() > endAt;
    if (isDone) return { data, search: { nextCursor, searchedUntil: nextCursor === null ? null : searchedUntil } };
    next = { ...next, cursor: nextCursor, pageSize: pageSize - data.length } as unknown as Input<N>;
  }
}
