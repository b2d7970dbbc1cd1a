// A request as schemes read it (core/verification), with what a test says of it.
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
