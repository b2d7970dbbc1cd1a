// The address that a delivery goes to: that of its destination, with what it takes of the webhook's own.
// Rules: OUT-01, OUT-11, OUT-12.
import { mergedQuery } from './query-text.ts';

/** Where a destination is, and what it takes of the addresses of webhooks. */
export interface TargetAddress {
  url: string;
  forwardQuery: boolean;
  forwardPath: boolean;
}

/** What follows the source in the address of a webhook, as it was received. */
export interface ReceivedAddress {
  /** Empty, or with its first slash; free of steps up (ingest-path.ts). */
  path: string;
  /** Without the question mark. */
  query: string;
}

export function deliveryUrl({ url, forwardQuery, forwardPath }: TargetAddress, received: ReceivedAddress): string {
  const path = forwardPath ? received.path : '';
  const query = forwardQuery ? received.query : '';
  if (path === '' && query === '') return url;
  const target = new URL(url);
  if (path !== '') target.pathname = target.pathname.replace(/\/$/, '') + path;
  if (query !== '') target.search = mergedQuery(target.search.slice(1), query);
  return target.href;
}
