// The address that a delivery goes to: that of its destination, with what it takes of the webhook's own.

// The text of a query, taken apart without being written again: what is left of it is what was received, byte by byte.

/** A query without some of its parts between ampersands; empty when nothing but ampersands is left. */
function without(query: string, isLeftOut: (part: string) => boolean): string {
  const kept = query.split('&').filter((part) => !isLeftOut(part));
  return kept.some((part) => part !== '') ? kept.join('&') : '';
}

/** The names that a part stands for, decoded. Old servers read a semicolon as an ampersand. */
function namesIn(part: string): string[] {
  return [part, ...(part.includes(';') ? part.split(';') : [])].flatMap((text) => [
    ...new URLSearchParams(text).keys(),
  ]);
}

/** A query without a parameter. @param name decoded, exactly as it is compared */
export function withoutParameter(query: string, name: string): string {
  const isIt = (part: string) => new URLSearchParams(part).has(name);
  return query.split('&').some(isIt) ? without(query, isIt) : query;
}

/**
 * A name in the one spelling of all that a server may read as the same: PHP puts underscores for dots and spaces and
 * makes lists of `name[]`, `qs` takes `[name]` for `name`, ASP.NET ignores case.
 */
function foldedParameter(name: string): string {
  const unwrapped = name.trim().replace(/^\[([^\]]*)\]/, '$1');
  // Not a pattern: it would look for the other bracket from each of many.
  const list = unwrapped.indexOf('[', 1);
  const isList = list !== -1 && unwrapped.includes(']', list);
  return (isList ? unwrapped.slice(0, list) : unwrapped).replace(/[. []/g, '_').toLowerCase();
}

/**
 * Whether servers may differ in the name that they read: PHP cuts it at a NUL, ASP.NET decodes `%u006b`, and what
 * stands behind a proxy may decode it once more.
 */
const isUnclear = (name: string): boolean => /\p{Cc}|%(?:u[0-9a-f]{4}|[0-9a-f]{2})/iu.test(name);

/** Two queries in one. Of a parameter that the first one has, in whatever spelling, the second adds nothing. */
function mergedQuery(own: string, added: string): string {
  const taken = new Set(own.split('&').flatMap(namesIn).map(foldedParameter));
  const mayBeTaken = (name: string) => taken.has(foldedParameter(name)) || isUnclear(name);
  const isTaken = (part: string) => taken.size > 0 && namesIn(part).some(mayBeTaken);
  const others = taken.size === 0 ? added : without(added, isTaken);
  return own === '' || others === '' ? own + others : `${own}&${others}`;
}

interface TargetAddress {
  url: string;
  forwardQuery: boolean;
  forwardPath: boolean;
}

export interface ReceivedAddress {
  /** Empty, or with its first slash; free of steps up (ingest-url.ts). */
  path: string;
  /** Without the question mark. */
  query: string;
}

interface DeliveryAddress {
  url: string;
  /** Path and query to request, where they hold something that was received; null: those of `url`. */
  target: string | null;
}

/**
 * Where a delivery goes. What was received follows what the destination has byte by byte: a URL parser would write it
 * anew, with other escapes. It holds no `#`, space or control character (api/http/connections.ts), and no step up
 * (ingest-url.ts).
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
