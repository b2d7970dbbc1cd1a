/** What of a request the service did not know and ignored. */
export interface Ignored {
  /** Method and path of the request. */
  request: string;
  names: IgnoredName[];
  /** How many others there were. */
  more: number;
}
export interface IgnoredName {
  /** Dotted: `retryPolicy.maxRetry`; a very long one is cut and ends with dots. */
  name: string;
  in: 'query' | 'body';
  /** The known name that is nearest; null when none is near. */
  nearest: string | null;
}

const ITEM = /"([^"]*)";in=(query|body)(?:;nearest="([^"]*)")?/g;

/** Reads the header `X-Ignored`; null when there is none, or nothing in it that is understood. */
export function readIgnored(request: string, header: string | null): Ignored | null {
  if (header === null) return null;
  const names = [...header.matchAll(ITEM)].map(([, name = '', place, nearest]) => ({
    name: decoded(name),
    in: place as IgnoredName['in'],
    nearest: nearest === undefined ? null : decoded(nearest),
  }));
  return names.length === 0 ? null : { request, names, more: Number(/more;count=(\d+)$/.exec(header)?.[1] ?? 0) };
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
