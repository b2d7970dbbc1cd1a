// The one way out to object stores. The SDKs build, sign and read requests; sending is done here for all of them,
// through the address guard, so that none of their own transports (agents, proxies, redirects, retries) is ever used.
import { Agent, type buildConnector } from 'undici';
import { named, openError, ownWords } from '../../core/text/error-summary.ts';
import { GrowingBytes } from '../http/answer-body.ts';
import { describeError, OwnSendError, type SendError } from '../http/send-errors.ts';

export type GuardedRequest = {
  method: string;
  url: URL;
  /** Path and query as signed; by default those of the URL. */
  path?: string;
  headers: Readonly<Record<string, string>>;
  body?: Uint8Array | string | null;
  signal?: AbortSignal;
};

export type GuardedResponse = {
  status: number;
  /** Lowercase names; a repeated header's values are joined with a comma. */
  headers: Record<string, string>;
  body: Buffer;
};

/**
 * There is no answer; `code`, `summary`, `message` (the detail) and `retryable` say why. SDKs hand it on as it is, or
 * as the cause of an error of theirs.
 */
export class TransportError extends OwnSendError {
  override readonly name = 'TransportError';
  readonly retryable: boolean;
  constructor({ code, retryable, ...described }: SendError) {
    super(code, described);
    this.retryable = retryable;
  }
}

export interface GuardedHttp {
  /**
   * Sends one request, once, and reads its answer; redirects are answers like any other.
   * @throws TransportError
   */
  send(request: GuardedRequest): Promise<GuardedResponse>;
  /** Closes every connection at once; requests under way fail. */
  close(): void;
}

// Answers to PUT and HEAD are metadata or an error.
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
// A batch is one upload; a few at a time are enough for one destination.
const CONNECTIONS = 8;
// Unused here, and an SDK that asks for compression leaves the unpacking to its own transport.
const NOT_SENT = new Set(['accept-encoding', 'connection', 'expect', 'keep-alive', 'transfer-encoding']);

/** @param connect the guarded connector (outbound/http/guarded-connect.ts) for an organization */
export function createGuardedHttp(connect: buildConnector.connector): GuardedHttp {
  const agent = new Agent({
    connect,
    allowH2: false,
    connections: CONNECTIONS,
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The caller's signal is the only limit of time: these would restart with every chunk.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    async send(request) {
      try {
        return await exchange(agent, request);
      } catch (error) {
        throw error instanceof TransportError ? error : new TransportError(describeError(error, request.url.href));
      }
    },
    close() {
      void agent.destroy();
    },
  };
}

async function exchange(
  agent: Agent,
  { method, url, path, headers, body, signal }: GuardedRequest,
): Promise<GuardedResponse> {
  const answer = await agent.request({
    origin: url.origin,
    path: path ?? url.pathname + url.search,
    method: method as 'GET',
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_SENT.has(name.toLowerCase()))),
    body: body ?? null,
    signal,
  });
  return { status: answer.statusCode, headers: flatten(answer.headers), body: await read(answer.body, url.host) };
}

function flatten(received: Record<string, string | string[] | undefined>): Record<string, string> {
  const entries = Object.entries(received).filter((entry) => entry[1] !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)]),
  );
}

async function read(body: AsyncIterable<Buffer>, host: string): Promise<Buffer> {
  const kept = new GrowingBytes(MAX_ANSWER_BYTES);
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new TransportError(oversized(host));
    kept.add(chunk);
  }
  return kept.bytes;
}

function oversized(host: string): SendError {
  const summary = ownWords`${named(host)} sent a response of more than ${MAX_ANSWER_BYTES} bytes; check that the host is an object store`;
  return { code: 'OVERSIZED_ANSWER', ...openError(summary), retryable: true };
}
