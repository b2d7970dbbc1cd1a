// Limits the memory of all request bodies together, from the first byte until the request is answered. Without it, the
// maximum number of connections with bodies of the maximum size would exceed the memory of the machine. Organizations
// share it by core/fairness/fair-queue.ts. So do the client addresses that send webhooks, each as much as it leaves
// free: a stranger's bodies leave room for the other senders of the same organization. The management API has a part of
// its own, so that a flood of webhooks locks no operator out.
import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { FairQueue } from '../../core/fairness/fair-queue.ts';
import { ingestBuffered } from '../../core/metrics/ingest.ts';
import { ApiError } from '../request/errors.ts';

const INGEST_PART = 3 / 4;
const CLIENT_TIMES_FREE = 1;

export class BodyRoom {
  readonly #shares: readonly (readonly [FairQueue, string])[];
  #taken = 0;

  constructor(...shares: (readonly [FairQueue, string])[]) {
    this.#shares = shares;
  }

  /** Reserves memory for bytes that have arrived. @returns false when there is none for this sender */
  take(bytes: number): boolean {
    for (const [at, [queue, name]] of this.#shares.entries()) {
      if (queue.hold(name, bytes)) continue;
      for (const [taken, its] of this.#shares.slice(0, at)) taken.release(its, bytes);
      return false;
    }
    this.#taken += bytes;
    return true;
  }

  free(): void {
    if (this.#taken > 0) for (const [queue, name] of this.#shares) queue.release(name, this.#taken);
    this.#taken = 0;
  }
}

export class BodyMemory {
  readonly #ingest: FairQueue;
  readonly #clients: FairQueue;
  readonly #management: FairQueue;

  constructor(maxBytes: number) {
    const ingestBytes = Math.floor(maxBytes * INGEST_PART);
    this.#ingest = new FairQueue(ingestBytes);
    this.#clients = new FairQueue(ingestBytes, CLIENT_TIMES_FREE);
    this.#management = new FairQueue(maxBytes - ingestBytes);
    ingestBuffered.readFrom(() => this.#ingest.held + this.#management.held);
  }

  forWebhook(client: string, organization: string): BodyRoom {
    return new BodyRoom([this.#ingest, organization], [this.#clients, client]);
  }

  forManagement(organization: string): BodyRoom {
    return new BodyRoom([this.#management, organization]);
  }
}

/**
 * Bytes for all bodies, so that one client address may hold the largest webhook: it gets three eighths. Three times
 * leave an eighth of the webhook for the overhead of its chunks.
 * @param least of which a management request may have three sixteenths; the largest import (api/request/validation.ts)
 * must fit
 */
export const bufferedBytes = (least: number, maxPayloadBytes: number): number => Math.max(least, 3 * maxPayloadBytes);

// Discards the rest of a body that is refused because of its size.

// How long the rest of a body that is too large is read before its connection is cut.
const DISCARD_MS = 5000;

/**
 * Reads on and throws away, within bounds: closing a connection while the sender still writes resets it, and the
 * sender would see a broken connection, which it retries, instead of the refusal (RFC 9112, section 9.6).
 */
function discardRest(request: IncomingMessage, maxBytes: number): Promise<void> {
  return new Promise((resolve) => {
    let left = maxBytes;
    const stop = () => {
      clearTimeout(timer);
      request.off('data', count).off('end', stop).off('close', stop).pause();
      resolve();
    };
    const count = (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) stop();
    };
    const timer = setTimeout(stop, DISCARD_MS);
    request.on('data', count).on('end', stop).on('close', stop).resume();
  });
}

// Reads a request's body into memory, within its own limit, at a minimum rate, and within the shared memory budget of
// all bodies.

// Overhead of one chunk in bytes: a body of a million one-byte chunks takes a hundred times its size.
const PIECE_BYTES = 256;
/**
 * How long a body has before its rate counts, and over which time it counts, ms: a lost packet may stop a sender for
 * seconds.
 */
const RATE_WINDOW_MS = 10_000;
/**
 * Bytes per second that must arrive in each of these. The network of every sender carries more, and a stalled body
 * holds memory.
 */
const LEAST_RATE = 1000;

/** `incomplete`: the sender closed the connection early. In the other cases the client may still be sending. */
export class BodyError extends Error {
  readonly reason: 'too_large' | 'too_slow' | 'no_room' | 'incomplete';
  constructor(reason: BodyError['reason']) {
    super(`the body was not received: ${reason}`);
    this.name = 'BodyError';
    this.reason = reason;
  }
}

/**
 * @param limit largest body, in bytes
 * @returns its exact bytes; nothing is ever decompressed
 * @throws BodyError
 */
export async function receiveBody(request: IncomingMessage, limit: number, room: BodyRoom): Promise<Buffer> {
  // raw-body drops a stream that reports an error, and the bytes that it has read.
  const refuse = (reason: BodyError['reason']) => request.emit('error', new BodyError(reason));
  const rate = watchRate(() => refuse('too_slow'));
  const meter = (chunk: Buffer): void => {
    rate.count(chunk.length);
    if (room.take(chunk.length + PIECE_BYTES)) return;
    request.off('data', meter);
    refuse('no_room');
  };
  request.on('data', meter);
  try {
    return await getRawBody(request, { limit, length: request.headers['content-length'] });
  } catch (error) {
    request.off('data', meter);
    const reason = reasonOf(error, request);
    if (reason === undefined) throw error;
    // Frees the bytes that were read; further bytes are discarded.
    room.free();
    if (reason === 'too_large' || reason === 'no_room') await discardRest(request, limit);
    throw error instanceof BodyError ? error : new BodyError(reason);
  } finally {
    rate.stop();
    request.off('data', meter);
  }
}

/** Calls back once when too few bytes have arrived in one window of time. */
function watchRate(onSlow: () => void): { count(bytes: number): void; stop(): void } {
  let bytes = 0;
  const timer = setInterval(() => {
    if (bytes < (LEAST_RATE * RATE_WINDOW_MS) / 1000) {
      clearInterval(timer);
      onSlow();
    }
    bytes = 0;
  }, RATE_WINDOW_MS);
  return {
    count(length) {
      bytes += length;
    },
    stop: () => clearInterval(timer),
  };
}

function reasonOf(error: unknown, request: IncomingMessage): BodyError['reason'] | undefined {
  if (error instanceof BodyError) return error.reason;
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return 'too_large';
  // The last case: the sender disconnected before the body was read.
  const hasGone = type === 'stream.not.readable' && request.destroyed;
  return type === 'request.aborted' || type === 'request.size.invalid' || hasGone ? 'incomplete' : undefined;
}

/** 503 when there is no memory for the body now. The connection cannot be reused: the client may still be sending. */
export function noRoom(consequence: string): ApiError {
  const message = `Too much data is being received at the moment; ${consequence}`;
  return new ApiError(503, 'UNAVAILABLE', message, undefined, { 'Retry-After': '1', Connection: 'close' });
}

/** 408 when the body came too slowly; the connection is closed. */
export function tooSlow(consequence: string): ApiError {
  const message = `The body must arrive at a rate of at least ${LEAST_RATE} bytes per second; ${consequence}`;
  return new ApiError(408, 'REQUEST_TIMEOUT', message, undefined, { Connection: 'close' });
}
