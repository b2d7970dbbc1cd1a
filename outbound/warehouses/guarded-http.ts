// The one way out to object stores. The SDKs build, sign and read requests; the sender of deliveries sends all of them,
// through the address guard, so that none of their own transports (agents, proxies, redirects, retries) is ever used.
import { named, openError, ownWords } from '../../core/text/error-summary.ts';
import { OwnSendError, type SendError } from '../http/send-errors.ts';
import type { Sender } from '../http/sender.ts';

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
  text: string;
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

/**
 * Sends one request, once, and reads its answer; redirects are answers like any other.
 * @throws TransportError
 */
export type GuardedHttp = (request: GuardedRequest) => Promise<GuardedResponse>;

// Answers to PUT and HEAD are metadata or an error.
const MAX_ANSWER_BYTES = 1024 * 1024;
// The caller's signal is the limit of time.
const LONGEST_MS = 3_600_000;
// Unused here, and an SDK that asks for compression leaves the unpacking to its own transport.
const NOT_SENT = new Set(['accept-encoding', 'connection', 'expect', 'keep-alive', 'transfer-encoding']);

/** @param poolKey names what shares connections */
export function guardedHttp(sender: Sender, organizationId: string, poolKey: string): GuardedHttp {
  return async ({ method, url, path, headers, body, signal }) => {
    signal?.throwIfAborted();
    const result = await sender.send({
      ...{ organizationId, poolKey, method, signal },
      url: url.href,
      target: path ?? null,
      headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_SENT.has(name.toLowerCase()))),
      body: bytesOf(body),
      timeoutMs: LONGEST_MS,
      keptBytes: MAX_ANSWER_BYTES,
    });
    if (result.kind === 'error') throw new TransportError(result);
    const { statusCode: status, bodyText: text, truncated } = result;
    if (truncated) throw new TransportError(oversized(url.host));
    return { status, headers: result.headers, text };
  };
}

function bytesOf(body: GuardedRequest['body']): Buffer | null {
  if (body === undefined || body === null) return null;
  return typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

function oversized(host: string): SendError {
  const summary = ownWords`${named(host)} sent a response of more than ${MAX_ANSWER_BYTES} bytes, which no object store does`;
  return { code: 'OVERSIZED_ANSWER', ...openError(summary), retryable: true };
}
