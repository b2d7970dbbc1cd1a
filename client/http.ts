// One call over fetch: its deadline, its repeats, and its answer or error.
import { type Detail, HookyardError } from './errors.ts';
import { type Ignored, readIgnored } from './ignored.ts';

/** How one call differs from the others. */
export interface CallOptions {
  /** Ends the call, its waits too; it rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Deadline of each request in ms, instead of that of the client. */
  timeoutMs?: number;
  /** Of a POST: instead of one made here, to repeat it across processes; 1 to 255 visible ASCII characters. */
  idempotencyKey?: string;
  /** Of a change: only if the record is at this version, an `ETag` from `onETag`; otherwise it is refused with PRECONDITION_FAILED. */
  ifMatch?: string;
  /** Called with the `ETag` of an answer that shows one record: its version. */
  onETag?: (etag: string) => void;
}

/** An answer that is no JSON, as it came. */
export interface RawAnswer {
  contentType: string | null;
  bytes: Uint8Array;
}

export interface Settings {
  url: string;
  apiKey: string | undefined;
  timeoutMs: number;
  maxRetries: number;
  maxWaitMs: number;
  userAgent: string | undefined;
  fetch: typeof fetch;
  onIgnored: ((ignored: Ignored) => void) | undefined;
  parseJson: (text: string) => unknown;
}

interface Call {
  method: string;
  /** With its query. */
  path: string;
  body?: unknown;
}

interface ErrorBody {
  message?: unknown;
  code?: unknown;
  details?: unknown;
  limit?: unknown;
}

const FIRST_BACKOFF_MS = 500;

/**
 * Sends a request, again where that is safe and useful, and returns the body of its answer: parsed JSON, undefined where there is
 * none, a `RawAnswer` for other types.
 *
 * Repeated are answers 429 and 503, which say that nothing was done, and a 409 that says that this very POST still runs; of GET
 * and POST also broken connections (a POST carries the same `Idempotency-Key` each time, so it is carried out once), and of a PUT
 * without `If-Match`, which changes nothing the second time. A time-out is not repeated: the caller said how long to wait.
 * @throws HookyardError
 */
export async function send(settings: Settings, call: Call, options: CallOptions = {}): Promise<unknown> {
  const idempotencyKey = call.method === 'POST' ? (options.idempotencyKey ?? crypto.randomUUID()) : null;
  let waitedMs = 0;
  for (let retry = 0; ; retry++) {
    try {
      return await sendOnce(settings, call, options, idempotencyKey);
    } catch (error) {
      if (!(error instanceof HookyardError) || !isRepeatable(error, call, options) || retry >= settings.maxRetries)
        throw error;
      const waitMs = error.retryAfterMs ?? backoffMs(retry);
      // A wait that does not fit is the caller's to decide on; half of it would be of no use.
      if (waitedMs + waitMs > settings.maxWaitMs) throw error;
      waitedMs += waitMs;
      await pause(waitMs, options.signal);
    }
  }
}

function isRepeatable({ status, code }: HookyardError, { method }: Call, { ifMatch }: CallOptions): boolean {
  if (status === 429 || status === 503 || code === 'IDEMPOTENCY_KEY_IN_USE') return true;
  return (
    code === 'UNREACHABLE' && (method === 'GET' || method === 'POST' || (method === 'PUT' && ifMatch === undefined))
  );
}

/** Half to all of 0.5, 1, 2, ... s, so that clients that failed together do not come back together. */
function backoffMs(retry: number): number {
  return FIRST_BACKOFF_MS * 2 ** retry * (0.5 + Math.random() / 2);
}

async function sendOnce(
  settings: Settings,
  call: Call,
  options: CallOptions,
  idempotencyKey: string | null,
): Promise<unknown> {
  const timeoutMs = options.timeoutMs ?? settings.timeoutMs;
  const deadline = AbortSignal.timeout(timeoutMs);
  const path = call.path.split('?')[0];
  const what = `${call.method} ${settings.url}${path}`;
  const response = await guarded(() =>
    settings.fetch(settings.url + call.path, {
      method: call.method,
      headers: {
        Accept: 'application/json, */*;q=0.1',
        ...(settings.apiKey && { Authorization: `Bearer ${settings.apiKey}` }),
        ...(settings.userAgent && { 'User-Agent': settings.userAgent }),
        ...(call.body !== undefined && { 'Content-Type': 'application/json' }),
        ...(options.ifMatch !== undefined && { 'If-Match': options.ifMatch }),
        ...(idempotencyKey !== null && { 'Idempotency-Key': idempotencyKey }),
      },
      ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
      // Followed, a POST would become a GET and the key would go to another place.
      redirect: 'manual',
      signal: options.signal ? AbortSignal.any([options.signal, deadline]) : deadline,
    }),
  );
  const ignored = readIgnored(`${call.method} ${path}`, response.headers.get('x-ignored'));
  // Outside of `guarded`: what the caller's function throws is the caller's.
  if (ignored) settings.onIgnored?.(ignored);
  const answer = await guarded(() => readAnswer(settings, response, what, idempotencyKey));
  const etag = response.headers.get('etag');
  if (etag !== null) options.onETag?.(etag);
  return answer;

  async function guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof HookyardError) throw error;
      options.signal?.throwIfAborted();
      if (deadline.aborted) {
        const message = `${what} was not answered within ${timeoutMs / 1000} s`;
        throw new HookyardError(message, { code: 'TIMEOUT', idempotencyKey, cause: error });
      }
      const message = `${what} cannot be reached (${reasonOf(error)})`;
      throw new HookyardError(message, { code: 'UNREACHABLE', idempotencyKey, cause: error });
    }
  }
}

/** fetch says "fetch failed" only; why is in its causes. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return inner === undefined ? error.message : reasonOf(inner);
}

async function readAnswer(
  { parseJson }: Settings,
  response: Response,
  what: string,
  idempotencyKey: string | null,
): Promise<unknown> {
  const contentType = response.headers.get('content-type');
  const isJson = /^application\/json\b/i.test(contentType ?? '');
  if (response.ok) {
    // A payload as it was received may be JSON too, even broken; it comes as an attachment.
    const raw = response.headers.get('content-disposition')?.startsWith('attachment') ?? false;
    if (raw) return { contentType, bytes: new Uint8Array(await response.arrayBuffer()) } satisfies RawAnswer;
    const text = await response.text();
    if (response.status === 204) return undefined;
    const parsed = isJson ? parse(text, parseJson) : undefined;
    if (parsed !== undefined) return parsed;
  } else if (isJson) {
    const body = parse(await response.text()) as ErrorBody | null | undefined;
    if (typeof body?.message === 'string') throw apiError(response, body, body.message, idempotencyKey);
  } else {
    await response.body?.cancel();
    // What stands before the API, a proxy for example, answers these in its own words.
    if ([429, 502, 503, 504].includes(response.status)) {
      throw apiError(response, {}, `${what} was answered ${response.status}`, idempotencyKey);
    }
  }
  const location = response.headers.get('location');
  throw new HookyardError(
    `${what} was answered ${response.status}${location ? `, a redirect to ${location}` : ` as ${contentType ?? 'nothing'}`}: ` +
      'this is not the API of Hookyard; check the url',
    { status: response.status, code: 'NOT_HOOKYARD', idempotencyKey },
  );
}

function apiError(response: Response, body: ErrorBody, message: string, idempotencyKey: string | null): HookyardError {
  return new HookyardError(message, {
    status: response.status,
    code: typeof body.code === 'string' ? body.code : null,
    details: Array.isArray(body.details) ? (body.details as Detail[]) : [],
    limit: typeof body.limit === 'string' ? body.limit : null,
    requestId: response.headers.get('x-request-id'),
    retryAfterMs: retryAfterMs(response.headers.get('retry-after')),
    idempotencyKey,
  });
}

/** RFC 9110, section 10.2.3: seconds, or a date. */
function retryAfterMs(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

function parse(text: string, parseJson: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
