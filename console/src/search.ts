// What is in the address of a page: filters, range, page, open row. Everything is plain text, so that an address can be
// read, bookmarked and sent.
import { useNavigate, useSearch } from '@tanstack/react-router';

export type Search = Record<string, string | undefined>;

export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value));
  }
  return query.size > 0 ? `?${query}` : '';
}

/**
 * The search of this page, and how to change it: `set({ status: 'failed' })` keeps the other members, and goes back to
 * the first page unless it sets `page`, `cursor` or the row that is open. Undefined removes a member.
 */
export function usePageSearch(): [Search, (change: Search, options?: { replace?: boolean }) => void] {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const set = (change: Search, { replace = false } = {}) => {
    const isPaging = 'page' in change || 'cursor' in change;
    // A page that moves by itself is the first one.
    const first = isPaging ? { live: undefined } : 'open' in change ? {} : { page: undefined, cursor: undefined };
    const next = { ...search, ...first, ...change };
    void navigate({ to: '.', search: next as never, replace });
  };
  return [search, set];
}

/** The page of a list in the address, from 1 on. */
export function pageOf({ page }: Search): number {
  const number = Number(page ?? 1);
  return Number.isSafeInteger(number) && number > 0 ? number : 1;
}

export const RANGES = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000, '30d': 2_592_000_000 } as const;
export type RangeName = keyof typeof RANGES;
export const isRangeName = (text: string | undefined): text is RangeName => text !== undefined && text in RANGES;

/** The range of figures on this page. */
export function useRangeName(): RangeName {
  const [{ range }] = usePageSearch();
  return isRangeName(range) ? range : '24h';
}

/** A time range as the API takes it. */
interface Range {
  from?: string;
  to?: string;
}

const MINUTE_MS = 60_000;
/**
 * `?range=24h`, `?range=all`, or `?from=...&to=...`. Ranges that end now begin at a whole minute, so that a query stays
 * the same for that long.
 */
export function rangeOf({ range, from, to }: Search, byDefault: RangeName | 'all'): Range {
  if (from !== undefined || to !== undefined) return { ...(from && { from }), ...(to && { to }) };
  const name = isRangeName(range) ? range : range === 'all' ? 'all' : byDefault;
  if (name === 'all') return {};
  return { from: new Date(Math.floor((Date.now() - RANGES[name]) / MINUTE_MS) * MINUTE_MS).toISOString() };
}
