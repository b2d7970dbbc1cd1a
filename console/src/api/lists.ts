// Lists: a part of one, and whole ones up to a bound. Pages are for what mostly is found at once. Where many rows may
// have to be read a list goes by cursor: nothing is counted unless one asks, and a search that takes long says how far
// it has come.
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { ListName } from '@hookyard/client';
import { type Total, totalText } from '../format.ts';
import { type SingleScope, useMay } from './caller.tsx';
import { call, client, type Input, type Item, type Output } from './client.ts';
import { AGAIN_MS, type AskOptions, useAsk } from './queries.ts';

/** How long one waits for a part before it is shown as it is, ms. */
const ENOUGH_MS = 3000;
/** A search is repeated less often than a page is asked for, ms. */
const SEARCH_AGAIN_MS = 15_000;
/** Records that a choice offers. */
const MOST_CHOICES = 2000;

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

interface Answer<Row> {
  data: Row[];
  pagination: Total & { page: number; pageSize: number } & Reached;
}

interface Options<Row> {
  /** Rows have to be read: the question has a cursor instead of a page. */
  isSearch: boolean;
  /** The time between two requests of the part, ms. */
  every: number | false | ((part: Part<Row> | undefined) => number | false);
}

export function usePart<N extends ListName>(name: N, question: Input<N>, { isSearch, every }: Options<Item<N>>) {
  return useQuery<Part<Item<N>>>({
    queryKey: [name, 'part', question],
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => {
      const ms = typeof every === 'function' ? every(data) : every;
      return isSearch && ms !== false ? data?.search?.searchedUntil === null && Math.max(ms, SEARCH_AGAIN_MS) : ms;
    },
    queryFn: async ({ signal }) => {
      if (isSearch) return searched(name, question, signal);
      const { data, pagination } = (await call(name, question, { signal })) as Answer<Item<N>>;
      return { data, pagination };
    },
  }) as UseQueryResult<Part<Item<N>>>;
}

/** Continues until the part is full, there is no more, or it takes too long to wait for. */
async function searched<N extends ListName>(name: N, question: Input<N>, signal: AbortSignal): Promise<Part<Item<N>>> {
  const data: Item<N>[] = [];
  const { pageSize = 50 } = question as { pageSize?: number };
  const endAt = performance.now() + ENOUGH_MS;
  for (let next = question; ; ) {
    const answer = (await call(name, next, { signal })) as Answer<Item<N>>;
    data.push(...answer.data);
    const { nextCursor, searchedUntil } = answer.pagination;
    const isDone = nextCursor === null || data.length >= pageSize || performance.now() > endAt;
    if (isDone) return { data, search: { nextCursor, searchedUntil: nextCursor === null ? null : searchedUntil } };
    next = { ...next, cursor: nextCursor, pageSize: pageSize - data.length } as Input<N>;
  }
}

interface Gathered<Row> {
  records: Row[];
  /** Whether there are more. */
  isCut: boolean;
}

/** The first `most` that match. @param tell is called with how many there are so far */
export async function gather<N extends ListName>(
  name: N,
  input: Partial<Input<N>>,
  most: number,
  { signal, tell }: { signal?: AbortSignal; tell?: (count: number) => void } = {},
): Promise<Gathered<Item<N>>> {
  const records: Item<N>[] = [];
  const found = client().each(name, input as Input<N>, signal ? { signal } : {}) as AsyncGenerator<Item<N>, void>;
  for await (const record of found) {
    if (records.length === most) return { records, isCut: true };
    records.push(record);
    if (records.length % 100 === 0) tell?.(records.length);
  }
  return { records, isCut: false };
}

/**
 * All records of a list for a choice. The key begins with the operation, so that what makes the list old makes this
 * old.
 */
export function useAll<N extends ListName>(
  name: N,
  enabled = true,
  { every = false, scope }: { every?: number | false; scope?: SingleScope } = {},
) {
  const may = useMay(scope);
  return useQuery({
    queryKey: [name, 'all'] as const,
    enabled: enabled && may,
    refetchInterval: every,
    queryFn: ({ signal }) => gather(name, {}, MOST_CHOICES, { signal }),
  });
}

/** How many match now; undefined: none, or it is not known. */
export function useSome<N extends 'listDeliveries' | 'listIssues'>(
  name: N,
  filter: Input<N>,
  options: Pick<AskOptions<Output<N>>, 'enabled' | 'scope' | 'keep'> = {},
): { total: number; text: string } | undefined {
  const { data } = useAsk(name, { ...filter, pageSize: 1 } as Input<N>, { ...options, every: AGAIN_MS });
  // What others asked is known here too.
  const found = options.enabled === false ? undefined : (data as { pagination: Total } | undefined)?.pagination;
  return found && found.total > 0 ? { total: found.total, text: totalText(found) } : undefined;
}
