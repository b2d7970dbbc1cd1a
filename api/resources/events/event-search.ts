// Searches, which read rows: limits how many run at once, and answers when one cannot be finished.
// Rules: ERR-16.
import { FairQueue } from '../../../core/fairness/fair-queue.ts';
import { SEARCH_MS, SearchTooBroadError } from '../../../db/history/search.ts';
import { invalid, unavailable } from '../../request/errors.ts';

// They hold connections for seconds that other requests need too. Of an organization two run at a time.
const MAX_AT_ONCE = 4;

/** Runs a search of an organization by this filter. @throws ApiError 400 SEARCH_TOO_BROAD, 503 when too many run in this process */
export type RunSearch = <T>(organizationId: string, filter: string, search: () => Promise<T>) => Promise<T>;

export function boundedSearches(): RunSearch {
  const places = new FairQueue(MAX_AT_ONCE, 1);
  return async (organizationId, filter, search) => {
    if (!places.hold(organizationId)) throw unavailable('Other searches are running');
    try {
      return await orTooBroad(filter, search);
    } finally {
      places.release(organizationId);
    }
  };
}

/** @param filter the parameter that an error names @throws ApiError 400 SEARCH_TOO_BROAD */
export async function orTooBroad<T>(filter: string, search: () => Promise<T>): Promise<T> {
  try {
    return await search();
  } catch (error) {
    throw error instanceof SearchTooBroadError ? tooBroad(error, filter) : error;
  }
}

function tooBroad({ searchedFrom, found }: SearchTooBroadError, filter: string) {
  const reached = searchedFrom.toISOString();
  return invalid(
    filter,
    `cannot be finished within ${SEARCH_MS / 1000} s: it came back to ${reached} and found ${found} until there; give from=${reached} or later, or a sourceId, or cursor=first`,
    'SEARCH_TOO_BROAD',
  );
}
