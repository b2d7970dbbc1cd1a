// Sends one HTTP request and reports what came back. Every request that Hookyard makes to an address a user gave goes
// through here, and so through the address guard.
import type { Dispatcher, Pool } from 'undici';
import { valueText, type HeaderBytes } from '../../core/http/headers.ts';
import { addressesUnder } from '../../core/http/urls.ts';
import { openError, ownWords } from '../../core/text/error-summary.ts';
import { createAnswerReader, type AnswerBody } from './answer-body.ts';
import { guardedConnector, guardOptions, type Reach } from './guarded-connect.ts';
import { RequestWatch, type WatchedHandler, createPools, type ExchangeFacts } from './pools.ts';
import { createOwnServices } from './protected-services.ts';
import { describeError, OwnSendError, type SendError } from './send-errors.ts';

export type SendRequest = {
  /** Whose it is: organizations share what a sender has. */
  organizationId: string;
  /** Requests with the same key share connections; use the destination's id. */
  poolKey: string;
  method: string;
  url: string;
  /** Path and query to request byte by byte, instead of those of `url` as a URL parser writes them. */
  target?: string | null;
  headers: Readonly<HeaderBytes>;
  body: Buffer | null;
  /** One deadline in ms for DNS, connection, request and the whole response. */
  timeoutMs: number;
  /** How many bytes of the answer's body are kept as text; by default 16 KiB. */
  keptBytes?: number;
  lookFor?: string | undefined;
};

export type SendResponse = {
  kind: 'response';
  statusCode: number;
  /** Lowercase names; a repeated header's values are joined with a comma. */
  headers: Record<string, string>;
} & AnswerBody &
  Measured;

type Measured = {
  /** From the call to the end of the response, in ms. */
  latency: number;
  /** Null: there was nothing to connect to. */
  exchange: ExchangeFacts | null;
};

/** A response, whatever its status, or the reason there is none. */
export type SendResult = SendResponse | (SendError & Measured & { kind: 'error' });

export type Sender = {
  /** Never rejects: errors are part of the result. */
  send(request: SendRequest): Promise<SendResult>;
  close(): Promise<void>;
};

// No destination may ask for a longer deadline than 60 s, so no request waits longer for a connection.
const CONNECT_TIMEOUT_MS = 60_000;

/**
 * Makes a sender; one serves a whole process. Proxy variables of the environment are not used.
 * @param options.publicUrl base of the addresses of sources
 * @param options.maxPools destinations whose connections are kept
 * @throws Error naming an entry of `allow` that cannot be read
 */
export function createSender(options: Reach & { publicUrl?: () => string; maxPools?: number }): Sender {
  const guard = guardOptions(options);
  const connect = guardedConnector({ ...guard, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  // Webhooks that come in again are a matter of their route (`allowOwnAddress`); nothing but ingest is reached this
  // way.
  const none = createOwnServices([], guard.resolve);
  const connectToIngest = guardedConnector({
    ...guard,
    own: none,
    // Where Hookyard itself, or the proxy before it, has a public address.
    isOfThisMachine: () => false,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });
  const isIngest = (url: URL) => addressesUnder(`${options.publicUrl?.() ?? ''}/ingest`)(url.href);
  const pools = createPools({
    connectorOf: (url) => (isIngest(url) ? connectToIngest : connect),
    allow: guard.allow,
    maxPools: options.maxPools ?? 1000,
  });
  const underWay = new Set<Promise<SendResult>>();
  let closed = false;

  async function attempt(request: SendRequest): Promise<SendResult> {
    const startedAt = performance.now();
    try {
      const { pool, path } = pools.get(request);
      return await exchange(pool, path, request, startedAt);
    } catch (error) {
      return {
        kind: 'error',
        ...describeError(error, request.url),
        latency: Math.round(performance.now() - startedAt),
        exchange: null,
      };
    }
  }

  return {
    async send(request) {
      if (closed) {
        const shutDown = openError(ownWords`The process is shutting down`);
        return { kind: 'error', code: 'CLOSED', ...shutDown, retryable: true, latency: 0, exchange: null };
      }
      const result = attempt(request);
      underWay.add(result);
      try {
        return await result;
      } finally {
        underWay.delete(result);
      }
    },
    async close() {
      closed = true;
      await Promise.all(underWay);
      await pools.destroy();
    },
  };
}

// A sender for one attempt, which must end before its activity.

/**
 * A sender that begins nothing whose answer may come too late: the attempt would outlive its activity, and be made
 * again meanwhile.
 * @param withinMs from now until the last answer
 */
export function inTime(sender: Sender, withinMs: number): Sender {
  const until = performance.now() + withinMs;
  return {
    ...sender,
    async send(request) {
      if (performance.now() + request.timeoutMs <= until) return sender.send(request);
      throw new Error('Preparing the request took too long; the attempt will be made again');
    },
  };
}

// One request and its response on a pool, under one deadline. It listens to undici's events directly: its `signal`
// option does not end a request that still waits for its connection.

const KEPT_BYTES = 16 * 1024;

// Made once: the stack trace of an error costs more than the rest of this file does for a request.
const OVER = new Error('The request has ended');
const NOT_READ = new Error('The rest of the response was not read');

/**
 * Sends a request and reads its response, at most one MiB of the body.
 * @param startedAt `performance.now()` at the start of the attempt
 * @throws what undici throws for a request it refuses to send
 */
function exchange(pool: Pool, path: string, request: SendRequest, startedAt: number): Promise<SendResult> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    let statusCode = 0;
    let headers: Record<string, string> = {};
    const answer = createAnswerReader(request.keptBytes ?? KEPT_BYTES, request.lookFor);
    let over: Error | null = null;
    const watch = new RequestWatch(startedAt);

    const latency = (): number => Math.round(performance.now() - startedAt);

    // The first outcome counts; what undici reports of a request that was cut off is not heard.
    const finish = (result: SendResult, cut: Error | null): void => {
      if (over !== null) return;
      over = cut ?? OVER;
      clearTimeout(deadline);
      resolve(result);
      if (cut !== null) controller?.abort(cut);
    };
    const fail = (error: Error, cut: Error | null): void => {
      finish({ kind: 'error', ...describeError(error, request.url), latency: latency(), exchange: watch.facts() }, cut);
    };
    const succeed = (cut: Error | null): void => {
      const body = answer.end();
      finish({ kind: 'response', statusCode, headers, ...body, latency: latency(), exchange: watch.facts() }, cut);
    };

    const deadline = setTimeout(() => {
      const late = ownWords`Timed out after ${request.timeoutMs} ms`;
      const error = new OwnSendError('TIMEOUT', openError(late));
      fail(error, error);
    }, request.timeoutMs);

    const handler: WatchedHandler = {
      watch,
      onRequestStart(started) {
        controller = started;
        watch.sending();
        // The deadline passed before there was a connection: nothing is sent.
        if (over !== null) started.abort(over);
      },
      onResponseStarted() {
        watch.answered();
      },
      onResponseStart(_controller, status, received) {
        // Comes once more after an interim (1xx) response: the last one is the answer (RFC 9110, section 15.2).
        statusCode = status;
        headers = flatten(received);
      },
      onResponseData(_controller, chunk) {
        if (!answer.add(chunk)) succeed(NOT_READ);
      },
      onResponseEnd() {
        succeed(null);
      },
      onResponseError(_controller, error) {
        fail(error, null);
      },
    };

    try {
      const { method, body } = request;
      pool.dispatch({ path, method, headers: request.headers, body }, handler);
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)), null);
    }
  });
}

function flatten(received: Record<string, string | string[] | undefined>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of Object.keys(received)) {
    const value = received[name];
    if (value !== undefined) headers[name] = valueText(typeof value === 'string' ? value : value.join(', '));
  }
  return headers;
}
