// Sends one HTTP request and reports what came back. Every request that Hookyard makes to an address a user gave goes
// through here, and so through the address guard.
import type { HeaderBytes } from '../../core/http/header-text.ts';
import { addressesUnder } from '../../core/http/installation-addresses.ts';
import { openError, ownWords } from '../../core/text/error-summary.ts';
import type { AnswerBody } from './answer-body.ts';
import { exchange } from './exchange.ts';
import { guardedConnector, guardOptions, type Reach } from './guarded-connect.ts';
import { createOwnServices } from './protected-services.ts';
import { createPools, type ExchangeFacts } from './pools.ts';
import { describeError, type SendError } from './send-errors.ts';

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
