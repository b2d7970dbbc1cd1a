// Payload searches: limits how many run at once, and answers when one cannot be finished.
// Rules: ERR-16.
import { SEARCH_MS, SearchTooBroadError } from '../../db/history/search.ts';
import { invalid, unavailable } from '../errors.ts';

// They hold connections for seconds that other requests need too.
const MAX_AT_ONCE = 2;

/** Runs a search. @throws ApiError 400 SEARCH_TOO_BROAD, 503 when too many run in this process */
export type RunSearch = <T>(search: () => Promise<T>) => Promise<T>;

export function boundedSearches(): RunSearch {
  let running = 0;
  return async (search) => {
    if (running >= MAX_AT_ONCE) throw unavailable('Other searches are running');
    running += 1;
    try {
      return await search();
    } catch (error) {
      throw error instanceof SearchTooBroadError ? tooBroad(error) : error;
    } finally {
      running -= 1;
    }
  };
}

function tooBroad({ searchedFrom, found }: SearchTooBroadError) {
  const reached = searchedFrom.toISOString();
  return invalid(
    'search',
    `cannot be finished within ${SEARCH_MS / 1000} s: it came back to ${reached} and found ${found} until there; give from=${reached} or later, or a sourceId or status`,
    'SEARCH_TOO_BROAD',
  );
}
