// One call over fetch: its deadline, its repeats, and its answer or error.
import { type Detail, HookyardError, type Ignored, readIgnored } from './errors.ts';

/** Options for one call. */
export interface CallOptions {
  /** Aborts the call and its waits. The call rejects with the reason of the signal. */
  signal?: AbortSignal;
  /** Deadline of each request in ms, instead of the deadline of the client. */
  timeoutMs?: number;
  /** For a POST: replaces the generated key, to retry from another process. 1 to 255 visible ASCII characters. */
  idempotencyKey?: string;
  /**
   * For a change: applies only if the record has this version, an `ETag` from `onETag`; otherwise the call fails with
   * PRECONDITION_FAILED.
   */
  ifMatch?: string;
  /** Called with the `ETag` of a response that returns a single record: the version of the record. */
  onETag?: (etag: string) => void;
}

/** A response that is not JSON, as received. */
export interface RawAnswer {
  contentType: string | null;
  bytes: Uint8Array;
}

/** Options for a client. */
export interface ClientOptions {
  /** The URL of the service, for example `https://hooks.example.com`. May have a path. */
  url: string;
  /** `whr_...`. Without it, only public operations work. */
  apiKey?: string;
  /** Deadline of each request, including the response body, in ms. Default 30,000. */
  timeoutMs?: number;
  /** Maximum number of retries of a request. Default 4; 0 never retries. */
  maxRetries?: number;
  /** Maximum total wait of a call between retries, in ms. Default 60,000. */
  maxWaitMs?: number;
  /** Sent as `User-Agent`, if the runtime allows it. */
  userAgent?: string;
  /** Replaces the `fetch` of the runtime. */
  fetch?: typeof fetch;
  /** Called when the service ignored unknown parts of a request, such as a misspelled filter. */
  onIgnored?: (ignored: Ignored) => void;
  /**
   * Parses JSON responses, instead of JSON.parse, which rounds numbers in payloads and conditions to doubles. Throws if
   * the text is not JSON.
   */
  parseJson?: (text: string) => unknown;
}

type WithDefault = 'timeoutMs' | 'maxRetries' | 'maxWaitMs' | 'fetch' | 'parseJson';
export type Settings = ClientOptions & Required<Pick<ClientOptions, WithDefault>>;

interface Call {
  method: string;
  /** With its query. */
  path: string;
  body?: unknown;
  /** Besides those that every request has, or instead of them. */
  headers?: Record<string, string>;
}

interface ErrorBody {
  message?: unknown;
  code?: unknown;
  details?: unknown;
  limit?: unknown;
}

const FIRST_BACKOFF_MS = 500;

/**
 * Sends a request, again where that is safe and useful, and returns the body of its answer: parsed JSON, undefined
 * where there is none, a `RawAnswer` for other types.
 *
 * Repeated are answers 429 and 503, which say that nothing was done, and a 409 that says that this very POST still
 * runs; of GET and POST also broken connections (a POST carries the same `Idempotency-Key` each time, so it is carried
 * out once), and of a PUT without `If-Match`, which changes nothing the second time. A time-out is not repeated: the
 * caller said how long to wait.
 * @throws HookyardError
 */
export async function send(settings: Settings, call: Call, options: CallOptions = {}): Promise<unknown> {
  const idempotencyKey = call.method === 'POST' ? (options.idempotencyKey ?? crypto.randomUUID()) : null;
  const repeats = new Repeats(settings);
  for (;;) {
    try {
      return await sendOnce(settings, call, options, idempotencyKey);
    } catch (error) {
      await repeats.waitAfter(error, call, options);
    }
  }
}

/** How often something is repeated, and how long is waited before. */
export class Repeats {
  readonly #settings: Settings;
  #count = 0;
  #waitedMs = 0;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Waits until the request may be sent again. @throws the error when it is not to be, and the reason of the signal */
  async waitAfter(error: unknown, { method }: Pick<Call, 'method'>, options: CallOptions): Promise<void> {
    const { maxRetries, maxWaitMs } = this.#settings;
    if (!(error instanceof HookyardError) || !isRepeatable(error, method, options) || this.#count >= maxRetries)
      throw error;
    const waitMs = error.retryAfterMs ?? backoffMs(this.#count);
    // A wait that does not fit is the caller's to decide on; half of it would be of no use.
    if (this.#waitedMs + waitMs > maxWaitMs) throw error;
    this.#count += 1;
    this.#waitedMs += waitMs;
    await pause(waitMs, options.signal);
  }
}

function isRepeatable({ status, code }: HookyardError, method: string, { ifMatch }: CallOptions): boolean {
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
  const late = (what: string) =>
    new HookyardError(`${what} got no response within ${timeoutMs / 1000} s`, { code: 'TIMEOUT', idempotencyKey });
  const { signal, ifMatch } = options;
  const terms = { signal, ifMatch, idempotencyKey, deadline: AbortSignal.timeout(timeoutMs), late };
  const exchanged = await exchange(settings, call, terms);
  const answer = await exchanged.guarded(() => readAnswer(settings, exchanged));
  const etag = exchanged.response.headers.get('etag');
  if (etag !== null) options.onETag?.(etag);
  return answer;
}

interface Terms {
  signal?: AbortSignal | undefined;
  ifMatch?: string | undefined;
  idempotencyKey: string | null;
  /** Ends the request, and the reading of its answer. */
  deadline: AbortSignal;
  /** What that means. @param what method and address */
  late: (what: string) => HookyardError;
}

/** A request that was answered; nothing of the answer but its head is read. */
export interface Exchange {
  response: Response;
  /** Method and address, for messages. */
  what: string;
  idempotencyKey: string | null;
  /** Makes what goes wrong with the connection an error of the client: for reading the answer. */
  guarded: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Sends one request. @throws HookyardError when nothing answers */
export async function exchange(settings: Settings, call: Call, terms: Terms): Promise<Exchange> {
  const { signal, deadline, idempotencyKey, ifMatch } = terms;
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
        ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
        ...(idempotencyKey !== null && { 'Idempotency-Key': idempotencyKey }),
        ...call.headers,
      },
      ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
      // Followed, a POST would become a GET and the key would go to another place.
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    }),
  );
  const ignored = readIgnored(`${call.method} ${path}`, response.headers.get('x-ignored'));
  // Outside of `guarded`: what the caller's function throws is the caller's.
  if (ignored) settings.onIgnored?.(ignored);
  return { response, what, idempotencyKey, guarded };

  async function guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof HookyardError) throw error;
      signal?.throwIfAborted();
      if (deadline.aborted) throw terms.late(what);
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

async function readAnswer({ parseJson }: Settings, exchanged: Exchange): Promise<unknown> {
  const { response } = exchanged;
  if (!response.ok) throw await refusalOf(exchanged);
  const contentType = response.headers.get('content-type');
  // A payload as it was received may be JSON too, even broken; it comes as an attachment.
  const raw = /^attachment\b/i.test(response.headers.get('content-disposition') ?? '');
  if (raw) return { contentType, bytes: new Uint8Array(await response.arrayBuffer()) } satisfies RawAnswer;
  const text = await response.text();
  if (response.status === 204) return undefined;
  const parsed = isJson(response) ? parse(text, parseJson) : undefined;
  if (parsed === undefined) throw notHookyard(exchanged);
  return parsed;
}

const isJson = ({ headers }: Response): boolean => /^application\/json\b/i.test(headers.get('content-type') ?? '');

/** What an answer that is no success says. */
export async function refusalOf(exchanged: Exchange): Promise<HookyardError> {
  const { response, what } = exchanged;
  if (isJson(response)) {
    const body = parse(await response.text()) as ErrorBody | null | undefined;
    if (typeof body?.message === 'string') return apiError(exchanged, body, body.message);
  } else {
    await response.body?.cancel();
    // What stands before the API, a proxy for example, answers these in its own words.
    if ([429, 502, 503, 504].includes(response.status))
      return apiError(exchanged, {}, `${what} returned ${response.status}`);
  }
  return notHookyard(exchanged);
}

export function notHookyard({ response: { headers, status }, what, idempotencyKey }: Exchange): HookyardError {
  const location = headers.get('location');
  const how = location ? `, a redirect to ${location}` : ` with content type ${headers.get('content-type') ?? 'none'}`;
  const message = `${what} returned ${status}${how}: this is not the Hookyard API; check the URL`;
  return new HookyardError(message, { status, code: 'NOT_HOOKYARD', idempotencyKey });
}

function apiError({ response, idempotencyKey }: Exchange, body: ErrorBody, message: string): HookyardError {
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

/**
 * RFC 9110, section 10.2.3: seconds, of which some proxies send fractions, or a date, which is in UTC in each of its
 * forms.
 */
function retryAfterMs(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const date = /^[a-z]{3}/i.test(text) ? Date.parse(/GMT$/i.test(text) ? text : `${text} GMT`) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

function parse(text: string, parseJson: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
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
