// How pages get data: `useAsk('listRoutes', { page: 1 })`. The key of a query is [operation, input].
import {
  keepPreviousData,
  onlineManager,
  QueryClient,
  queryOptions,
  type UseQueryResult,
  useMutation,
  useQuery,
} from '@tanstack/react-query';
import { pluralOf, sentence } from '../format.ts';
import { type SingleScope, useMay } from './caller.tsx';
import { type Name, call, type Input, type Output, shareEqual } from './client.ts';
import { session } from './session.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    // The client has repeated what may be repeated; when the API is back, everything is asked for again.
    queries: {
      ...{ retry: false, staleTime: 2000, gcTime: 120_000, networkMode: 'always' },
      structuralSharing: shareEqual,
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});
onlineManager.subscribe((isOnline) => {
  if (isOnline) void refetch();
});
let { key: askedWith } = session.get();
session.subscribe(() => {
  // What one key may see is not shown to the next.
  if (session.get().key !== askedWith) queryClient.clear();
  askedWith = session.get().key;
});

/** The time between two requests for what changes by itself, ms; the same everywhere, so a page shows one moment. */
export const AGAIN_MS = 10_000;
/** The same while something is under way that somebody waits for. */
export const WATCH_MS = 2000;
/** When the effects of a change are looked for, ms after it: deliveries are sent, issues and circuit breakers close. */
const EFFECTS_MS = [1000, 2000, 4000];

/** Fetches all that the page shows. @param cancelRefetch begins again with what is being fetched */
export const refetch = (cancelRefetch = true): Promise<void> =>
  // A signed sample stays the one that is shown and was sent.
  queryClient.invalidateQueries(
    { predicate: ({ queryKey: [name] }) => name !== 'signSourceSample' },
    { cancelRefetch },
  );

let effects: ReturnType<typeof setTimeout>[] = [];
/** After a change: fetches all that the page shows, now and while the effects arrive. */
export function askAgain(): Promise<void> {
  for (const timer of effects) clearTimeout(timer);
  effects = EFFECTS_MS.map((ms) => setTimeout(() => void refetch(false), ms));
  return refetch();
}

export interface AskOptions<Answer> {
  enabled?: boolean;
  /** A key without it does not ask. */
  scope?: SingleScope;
  /**
   * The time between two requests while the page is visible, ms; a function of the last response, if the requests may
   * end.
   */
  every?: number | false | ((answer: Answer | undefined) => number | false);
  /** Shows the answer to the last input until that to the new one is there: for lists that are paged or filtered. */
  keep?: boolean;
}

/** The options of a query, for where a hook does not do (`queryClient.fetchQuery`). */
export function ask<N extends Name>(name: N, input: Input<N>) {
  return queryOptions({
    queryKey: [name, input ?? {}] as const,
    queryFn: ({ signal }) => call(name, input, { signal }),
  });
}

/** Asks the API; the answer is kept for all who ask the same. */
export function useAsk<N extends Name>(
  name: N,
  input: Input<N>,
  options: AskOptions<Output<N>> = {},
): UseQueryResult<Output<N>> {
  const { enabled = true, scope, every = false } = options;
  const may = useMay(scope);
  return useQuery({
    ...ask(name, input),
    enabled: enabled && may,
    refetchInterval: typeof every === 'function' ? ({ state }) => every(state.data) : every,
    ...(options.keep && { placeholderData: keepPreviousData }),
  }) as UseQueryResult<Output<N>>;
}

/** Something with several steps that somebody begins: whether it is running, and what was wrong the last time. */
export const useTask = () => useMutation<unknown, unknown, () => Promise<unknown>>({ mutationFn: (work) => work() });

/** An operation that changes something. */
export function useAct<N extends Name>(name: N) {
  return useMutation<Output<N>, Error, Input<N>>({
    mutationFn: (input) => call(name, input),
    onSettled: askAgain,
  });
}

// Records with a page and a form, and the operations on them.

export type RecordKind = 'source' | 'destination' | 'route' | 'alert channel' | 'filter' | 'transform' | 'schema';

type Pascal<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? `${Capitalize<First>}${Capitalize<Rest>}`
  : Capitalize<Text>;
type Verb = 'get' | 'create' | 'update' | 'delete' | 'pause' | 'resume';

/** `createAlertChannel` */
export const operationOf = <V extends Verb, K extends RecordKind>(verb: V, kind: K) =>
  `${verb}${kind.replaceAll(/(?:^| )(.)/g, (_, letter: string) => letter.toUpperCase())}` as `${V}${Pascal<K>}` & Name;

export type PageKind = RecordKind | 'event' | 'delivery' | 'issue' | 'replay' | 'API key' | 'audit log entry';

/** Of the page of the list. */
export const pathOf = (what: PageKind): string => `/${pluralOf(what).replaceAll(' ', '-').toLowerCase()}`;
export const crumbOf = (what: PageKind) => ({ to: pathOf(what), label: sentence(pluralOf(what)) });

/** Waits, ms, or until the signal ends the wait. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  // What is late goes on at once: a hidden tab has a timer a second.
  if (ms <= 0) return Promise.resolve();
  const end = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  return new Promise((resolve) => {
    if (end.aborted) resolve();
    end.addEventListener('abort', () => resolve(), { once: true });
  });
}
