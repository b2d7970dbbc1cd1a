// The address that a delivery goes to: that of its destination, with what it takes of the webhook's own.
import { mergedQuery } from '../http/query-text.ts';

export interface TargetAddress {
  url: string;
  forwardQuery: boolean;
  forwardPath: boolean;
}

export interface ReceivedAddress {
  /** Empty, or with its first slash; free of steps up (ingest-path.ts). */
  path: string;
  /** Without the question mark. */
  query: string;
}

export interface DeliveryAddress {
  url: string;
  /** Path and query to request, where they hold something that was received; null: those of `url`. */
  target: string | null;
}

/**
 * Where a delivery goes. What was received follows what the destination has byte by byte: a URL parser would write it
 * anew, with other escapes. It holds no `#`, space or control character (api/http/connections.ts), and no step up
 * (ingest-path.ts).
 */
export function deliveryAddress(
  { url, forwardQuery, forwardPath }: TargetAddress,
  received: ReceivedAddress,
): DeliveryAddress {
  const path = forwardPath ? received.path : '';
  const query = forwardQuery ? received.query : '';
  if (path === '' && query === '') return { url, target: null };
  const parsed = new URL(url);
  const { pathname, search } = parsed;
  parsed.search = '';
  parsed.hash = '';
  const own = parsed.href.slice(0, -pathname.length);
  const merged = mergedQuery(search.slice(1), query);
  const target = (path === '' ? pathname : pathname.replace(/\/$/, '') + path) + (merged === '' ? '' : `?${merged}`);
  return { url: own + target, target };
}

/** The address as it is shown, and looked at before anything is sent. */
export const deliveryUrl = (target: TargetAddress, received: ReceivedAddress): string =>
  deliveryAddress(target, received).url;
