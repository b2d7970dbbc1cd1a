// Events as they arrive: a stream of server-sent events (HTML Living Standard, section 9.2), read over fetch with the
// key, and asked for again whenever it ends, from where it ended.
import type { Event } from './api.ts';
import { HookyardError } from './errors.ts';
import { type Exchange, exchange, notHookyard, pause, refusalOf, Repeats, type Settings } from './http.ts';

export interface StreamOptions {
  /** Ends the stream. Reading it then rejects with the reason of the signal. */
  signal?: AbortSignal;
  /** Maximum wait for the first data, in ms, instead of the deadline of the client. */
  timeoutMs?: number;
  /** The ID of an event or of `open`: the stream starts with the events since then, at most ten minutes back. */
  lastEventId?: string;
}

/** An item of an event stream. */
export type Streamed =
  /**
   * The stream is open, for the first time or after a reconnection. `lastEventId` is its start: no later event is
   * omitted.
   */
  | { type: 'open'; lastEventId: string | null }
  | { type: 'event'; event: Event }
  /** Events were omitted, because they are older than ten minutes or too many arrived at once; the list has them. */
  | { type: 'gap' };

interface Frame {
  id?: string;
  event?: string;
  data?: string;
  retry?: string;
}

const TYPE = 'text/event-stream';
/** The service writes something every 15 seconds. What is quiet for longer is a connection that nobody ends. */
const QUIET_MS = 40_000;
/** Until the service says how long to wait before the next request. */
const AGAIN_MS = 1000;
/** How long ids are remembered: the service gives the last five seconds again. */
const KEPT_MS = 30_000;
const FORGET_EVERY = 1000;

/**
 * Follows events until its signal ends the stream. Reconnects when the stream ends or breaks, continues after the last
 * event, and returns each event once.
 * @param path with its query
 * @throws HookyardError when it is refused, and when it cannot be reached for longer than the settings allow
 */
export async function* follow(
  settings: Settings,
  path: string,
  { lastEventId, ...options }: StreamOptions = {},
): AsyncGenerator<Streamed, void> {
  const seen = new Seen();
  let last = lastEventId;
  let againMs = AGAIN_MS;
  let repeats = new Repeats(settings);
  for (;;) {
    let isOpen = false;
    try {
      for await (const frame of framesOf(settings, path, { ...options, lastEventId: last })) {
        last = frame.id ?? last;
        againMs = /^\d+$/.test(frame.retry ?? '') ? Number(frame.retry) : againMs;
        if (!isOpen) {
          isOpen = true;
          repeats = new Repeats(settings);
          yield { type: 'open', lastEventId: last ?? null };
        }
        if (frame.event === 'gap') yield { type: 'gap' };
        if (frame.event !== 'event' || frame.data === undefined) continue;
        const event = settings.parseJson(frame.data) as Event;
        if (seen.isNew(event)) yield { type: 'event', event };
      }
      await pause(againMs, options.signal);
    } catch (error) {
      await repeats.waitAfter(error, { method: 'GET' }, options);
    }
  }
}

/** The frames of one stream, until it ends. */
async function* framesOf(settings: Settings, path: string, options: StreamOptions): AsyncGenerator<Frame, void> {
  const { signal, lastEventId, timeoutMs = settings.timeoutMs } = options;
  const end = new AbortController();
  let isOpen = false;
  const late = (what: string) =>
    isOpen
      ? new HookyardError(`${what} has sent nothing for ${QUIET_MS / 1000} s`, { code: 'UNREACHABLE' })
      : new HookyardError(`${what} sent nothing within ${timeoutMs / 1000} s`, { code: 'TIMEOUT' });
  const inTime = async <T>(work: () => Promise<T>): Promise<T> => {
    const timer = setTimeout(() => end.abort(), isOpen ? QUIET_MS : timeoutMs);
    return work().finally(() => clearTimeout(timer));
  };
  const headers = { Accept: TYPE, ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }) };
  try {
    const terms = { signal, deadline: end.signal, idempotencyKey: null, late };
    const exchanged = await inTime(() => exchange(settings, { method: 'GET', path, headers }, terms));
    const body = await inTime(() => exchanged.guarded(() => bodyOf(exchanged)));
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let text = '';
    for (;;) {
      const { done, value } = await inTime(() => exchanged.guarded(() => reader.read()));
      if (done) return;
      isOpen = true;
      const blocks = (text + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      // Its end has not come yet; what never gets one is no frame.
      text = blocks.pop() ?? '';
      yield* blocks.map(frameOf);
    }
  } finally {
    end.abort();
  }
}

async function bodyOf(exchanged: Exchange): Promise<ReadableStream<Uint8Array>> {
  const { ok, headers, body } = exchanged.response;
  if (!ok) throw await refusalOf(exchanged);
  const isStream = headers.get('content-type')?.toLowerCase().startsWith(TYPE) ?? false;
  if (!isStream || body === null) throw notHookyard(exchanged);
  return body;
}

/** Lines of other names, and comments, are nothing that is known here. */
function frameOf(block: string): Frame {
  const frame: Record<string, string> = {};
  for (const line of block.split(/\r?\n/)) {
    const [, name = '', value = ''] = /^(\w+): ?(.*)$/s.exec(line) ?? [];
    if (name !== '') frame[name] = name === 'data' && frame.data !== undefined ? `${frame.data}\n${value}` : value;
  }
  return frame;
}

/** A stream that continues gives again what it gave in the last seconds, so that nothing is missed. */
class Seen {
  /** By id, when they were received, ms. */
  readonly #events = new Map<string, number>();
  #latestMs = 0;

  isNew({ id, receivedAt }: Event): boolean {
    if (this.#events.has(id)) return false;
    const at = Date.parse(receivedAt);
    this.#events.set(id, at);
    this.#latestMs = Math.max(this.#latestMs, at);
    if (this.#events.size % FORGET_EVERY === 0) {
      for (const [other, ms] of this.#events) if (ms < this.#latestMs - KEPT_MS) this.#events.delete(other);
    }
    return true;
  }
}
