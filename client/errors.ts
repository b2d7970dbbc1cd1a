/** A problem with one field of a request. */
export interface Detail {
  /** The dotted path of the field, such as `retryPolicy.maxRetries`. Empty for the whole body. */
  path: string;
  message: string;
}

/** The error of a call, except an abort by its `signal`. The message says what to do, and contains no secrets. */
export class HookyardError extends Error {
  override readonly name = 'HookyardError';
  /** The HTTP status. Null if there was no response. */
  readonly status: number | null;
  /**
   * The code from the API (`VALIDATION_ERROR`, `RESOURCE_NOT_FOUND`, ...), or null. Codes of the client itself:
   * `UNREACHABLE`, `TIMEOUT`, and `NOT_HOOKYARD` if the response is not from Hookyard.
   */
  readonly code: string | null;
  /** Problems with individual fields of the request. Empty for most errors. */
  readonly details: readonly Detail[];
  /** The limit of the organization that the request would exceed (`eventsPerSecond`, ...). Null for other errors. */
  readonly limit: string | null;
  /** The ID of the request in the log of the service. Null if there was no response. */
  readonly requestId: string | null;
  /** How long to wait before a retry, in ms. Null if the service did not specify it. */
  readonly retryAfterMs: number | null;
  /** Send this key again to retry the POST without carrying it out twice. Null for other methods. */
  readonly idempotencyKey: string | null;

  constructor(message: string, members: Partial<Omit<HookyardError, 'name' | 'message'>> & { cause?: unknown }) {
    super(message, members.cause === undefined ? {} : { cause: members.cause });
    this.status = members.status ?? null;
    this.code = members.code ?? null;
    this.details = members.details ?? [];
    this.limit = members.limit ?? null;
    this.requestId = members.requestId ?? null;
    this.retryAfterMs = members.retryAfterMs ?? null;
    this.idempotencyKey = members.idempotencyKey ?? null;
  }
}

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
