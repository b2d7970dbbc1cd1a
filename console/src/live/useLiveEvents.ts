// A list of events that moves by itself: its first page, and before it what has arrived since. Where the stream does
// not do, the list is asked for again and again, and the page says so.
import { useDocumentVisibility } from '@mantine/hooks';
import type { Event } from '@hookyard/client';
import { useEffect, useState } from 'react';
import { type Filters, type Part, usePart, type Where } from '../api/parts.ts';
import { queryClient } from '../api/queries.ts';
import { follow, type LiveFilter, type LiveState } from './follow.ts';

/**
 * Of the list: where the stream does not do; while what has just arrived is delivered; while older events wait for
 * retries.
 */
const INSTEAD_MS = 5000;
const SETTLING_MS = 2000;
const WAITING_MS = 10_000;
const YOUNG_MS = 60_000;
/** Arrivals are shown together: a page that is drawn for each would stand still. */
const SHOWN_AFTER_MS = 250;
const MOST = 500;

type EventFilters = Filters<'listEvents'>;

/** Filters for which rows have to be read. */
export const isEventSearch = ({ search, routeId, destinationId }: EventFilters): boolean =>
  [search, routeId, destinationId].some((value) => value !== undefined);

/** Filters of the list that the stream does not have, in words. */
const UNKNOWN = {
  status: 'status',
  routeId: 'route',
  destinationId: 'destination',
  search: 'payload text',
  to: 'end time',
} as const;

/** @param isOn false: it stands still */
export function useLiveEvents(filters: EventFilters, where: Where, isOn: boolean) {
  const { data, error, isFetching, refetch } = usePart('listEvents', filters, where, {
    isSearch: isEventSearch(filters),
  });
  const { state, arrived } = useArrivals(filters, isOn);
  const { page, unseen } = withArrivals(data, where.page === 1 ? arrived : [], where.pageSize);
  const againMs = askAgainMs(state, page?.data ?? [], unseen >= where.pageSize);
  useEffect(() => {
    if (againMs === null) return;
    const timer = setInterval(() => void refetch(), againMs);
    return () => clearInterval(timer);
  }, [againMs, refetch]);
  return { answer: { data: page, error, isFetching, refetch }, state };
}

/** An event comes by the stream once, when it is stored; what becomes of it the list knows. */
function askAgainMs({ is }: LiveState, shown: Event[], isFull: boolean): number | null {
  if (is === 'asking') return INSTEAD_MS;
  if (is !== 'open') return null;
  const [newest] = shown.filter(({ status }) => status === 'pending');
  if (isFull || (newest && Date.now() - Date.parse(newest.receivedAt) < YOUNG_MS)) return SETTLING_MS;
  return newest ? WAITING_MS : null;
}

/** What arrives while the page is seen, newest first. */
function useArrivals(filters: EventFilters, isOn: boolean) {
  const [state, setState] = useState<LiveState>({ is: 'off' });
  const [arrived, setArrived] = useState<Event[]>([]);
  const isSeen = useDocumentVisibility() === 'visible';
  const key = JSON.stringify(filterOf(filters));
  // biome-ignore lint/correctness/useExhaustiveDependencies: what arrived belongs to the filter
  useEffect(() => setArrived([]), [key]);
  useEffect(() => {
    const filter = JSON.parse(key) as LiveFilter | string;
    if (!isOn || !isSeen) return setState({ is: 'off' });
    if (typeof filter === 'string') return setState({ is: 'asking', why: filter });
    const end = new AbortController();
    const waiting: Event[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = () => {
      timer = undefined;
      const fresh = waiting.splice(0).toReversed();
      setArrived((before) => [...fresh, ...before].slice(0, MOST));
    };
    void follow(filter, {
      signal: end.signal,
      tell: (next) => {
        if (!end.signal.aborted) setState(next);
      },
      arrived: (event) => {
        waiting.push(event);
        timer ??= setTimeout(show, SHOWN_AFTER_MS);
      },
      incomplete: () => void queryClient.invalidateQueries({ queryKey: ['listEvents'] }),
    });
    return () => {
      end.abort();
      clearTimeout(timer);
      show();
    };
  }, [key, isOn, isSeen]);
  return { state, arrived };
}

/** What the stream is asked for; a text: why it does not do. */
function filterOf({ sourceId, routed, ...others }: EventFilters): LiveFilter | string {
  const names = Object.entries(UNKNOWN).flatMap(([name, word]) => (others[name as keyof typeof UNKNOWN] ? [word] : []));
  return names.length === 0 ? { sourceId, routed } : `The live stream cannot filter by ${names.join(' or ')}.`;
}

/**
 * The first page with what it has not seen yet. An event that is in both is as the list, which is asked for later, has
 * it.
 */
function withArrivals(
  page: Part<Event> | undefined,
  arrived: Event[],
  pageSize: number,
): { page: Part<Event> | undefined; unseen: number } {
  // The stream knows no filter for which one searches.
  if (!page?.pagination || arrived.length === 0) return { page, unseen: 0 };
  const { data, pagination } = page;
  const known = new Set(data.map(({ id }) => id));
  // What is older than a full page is counted in its total.
  const oldest = data.length < pageSize ? '' : (data.at(-1)?.id ?? '');
  const fresh = arrived.filter(({ id }) => id > oldest && !known.has(id));
  const rows = [...fresh, ...data].toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, pageSize);
  const total = pagination.total + fresh.length;
  return { page: { data: rows, pagination: { ...pagination, total } }, unseen: fresh.length };
}
