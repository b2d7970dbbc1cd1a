// A request as schemes (core/verification) and filters read it, with what a test says of it.
import type { FilteredRequest } from '../../core/filters/filter.ts';
import type { RawRequest } from '../../core/verification/index.ts';

export function rawRequest({
  address = 'https://example.com/',
  query = '',
  ...fields
}: Partial<Omit<RawRequest, 'query'>> & { address?: string; query?: string }): RawRequest {
  const body = fields.body ?? Buffer.alloc(0);
  return {
    ...{ method: 'POST', headers: {}, body, nowMs: 0, isRepeated: () => false, parsed: (parse) => parse(body) },
    query: () => new URLSearchParams(query),
    url: () => (query === '' ? address : `${address}?${query}`),
    ...fields,
  };
}

export const filteredRequest = (payload: unknown): FilteredRequest => ({
  ...{ method: 'POST', headers: {}, path: '' },
  query: () => new URLSearchParams(),
  payload: () => payload,
});
