// Reads a request's body into memory, within its own limit and the shared memory budget of all bodies.
import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import type { BodyMemoryBudget } from './body-memory-budget.ts';
import { discardRest } from './discard.ts';
import { ApiError } from './errors.ts';

// Overhead of one chunk in bytes: a body of a million one-byte chunks takes a hundred times its size.
const PIECE_BYTES = 256;

/** `incomplete`: the sender closed the connection early. In the other cases the client may still be sending. */
export class BodyError extends Error {
  readonly reason: 'too_large' | 'no_room' | 'incomplete';
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
export async function receiveBody(request: IncomingMessage, limit: number, room: BodyMemoryBudget): Promise<Buffer> {
  const meter = (chunk: Buffer): void => {
    if (room.take(chunk.length + PIECE_BYTES)) return;
    request.off('data', meter);
    // raw-body drops a stream that reports an error, and the bytes that it has read.
    request.emit('error', new BodyError('no_room'));
  };
  request.on('data', meter);
  try {
    return await getRawBody(request, { limit, length: request.headers['content-length'] });
  } catch (error) {
    const reason = reasonOf(error, request);
    if (reason === undefined) throw error;
    // Frees the bytes that were read; further bytes are discarded.
    room.free();
    if (reason !== 'incomplete') await discardRest(request, limit);
    throw error instanceof BodyError ? error : new BodyError(reason);
  } finally {
    request.off('data', meter);
  }
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
