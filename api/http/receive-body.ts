// Reads a request's body into memory, within its own limit, at a minimum rate, and within the shared memory budget of all bodies.
import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import type { BodyRoom } from './body-memory.ts';
import { discardRest } from './discard.ts';
import { ApiError } from '../request/errors.ts';

// Overhead of one chunk in bytes: a body of a million one-byte chunks takes a hundred times its size.
const PIECE_BYTES = 256;
/** How long a body has before its rate counts, and over which time it counts, ms: a lost packet may stop a sender for seconds. */
const RATE_WINDOW_MS = 10_000;
/** Bytes per second that must arrive in each of these. The network of every sender carries more, and a stalled body holds memory. */
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
  const message = `Too much is being received at the moment; ${consequence}`;
  return new ApiError(503, 'UNAVAILABLE', message, undefined, { 'Retry-After': '1', Connection: 'close' });
}

/** 408 when the body came too slowly; the connection is closed. */
export function tooSlow(consequence: string): ApiError {
  const message = `The body must arrive with at least ${LEAST_RATE} bytes per second; ${consequence}`;
  return new ApiError(408, 'REQUEST_TIMEOUT', message, undefined, { Connection: 'close' });
}
