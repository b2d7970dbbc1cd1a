// Reads JSON bodies of the management API; refusals follow "HTTP conventions".
// Rules: HTTP-16 to HTTP-19.
import { parseExact } from '../../core/text/exact-json.ts';
import type { AppContext } from './context.ts';
import { ApiError } from './errors.ts';
import { BodyError, noRoom, receiveBody, tooSlow } from '../http/receive-body.ts';

/** Largest body of a management request, in bytes. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Largest body that any management request may have, in bytes: an import of 1,000 items of 8 KiB. */
export const MAX_IMPORT_BYTES = 8 * 1024 * 1024;

/**
 * Reads a request's JSON body.
 * @param maxBytes largest accepted body
 * @returns the parsed value; undefined when there is no body
 * @throws ApiError 415 for another content type, 413 when it is too large, 400 when it is not JSON
 */
export async function readJson(ctx: AppContext, maxBytes: number = MAX_BODY_BYTES): Promise<unknown> {
  if (!announcesBody(ctx)) return undefined;
  requireJsonType(ctx);
  ctx.state.sent = parseJson(await readBytes(ctx, maxBytes));
  return ctx.state.sent;
}

/**
 * Reads the bytes of a JSON body before its handler runs; the handler then gets them from memory.
 * @returns an empty buffer when there is no body
 * @throws ApiError 415, 413, 400
 */
export async function bufferBody(ctx: AppContext): Promise<Buffer> {
  if (!announcesBody(ctx)) return Buffer.alloc(0);
  requireJsonType(ctx);
  ctx.state.body = await readBytes(ctx, MAX_IMPORT_BYTES);
  return ctx.state.body;
}

function announcesBody(ctx: AppContext): boolean {
  const declared = ctx.request.length;
  return declared !== 0 && !(declared === undefined && ctx.get('transfer-encoding') === '');
}

function requireJsonType(ctx: AppContext): void {
  if (!ctx.is('application/json')) {
    throw new ApiError(415, 'UNSUPPORTED_MEDIA_TYPE', 'The body must be sent with Content-Type: application/json');
  }
  const encoding = ctx.get('content-encoding').toLowerCase();
  if (encoding !== '' && encoding !== 'identity') {
    throw new ApiError(415, 'UNSUPPORTED_MEDIA_TYPE', 'The body must be sent without Content-Encoding');
  }
}

async function readBytes(ctx: AppContext, limit: number): Promise<Buffer> {
  const known = ctx.state.body;
  if (known) {
    if (known.length > limit) throw tooLarge(limit);
    return known;
  }
  const room = ctx.state.memory.forManagement(ctx.state.caller?.organization.id ?? '');
  ctx.state.room = room;
  try {
    return await receiveBody(ctx.req, limit, room);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    // The client may still be sending, so the connection cannot be reused.
    if (error.reason === 'too_large') throw tooLarge(limit, { Connection: 'close' });
    if (error.reason === 'too_slow') throw tooSlow('nothing was changed');
    if (error.reason === 'no_room') throw noRoom('nothing was changed, try again in a moment');
    throw new ApiError(400, 'INVALID_JSON', 'The body ended before its announced length; send it again');
  }
}

function tooLarge(limit: number, headers?: Record<string, string>): ApiError {
  return new ApiError(413, 'PAYLOAD_TOO_LARGE', `The body must be at most ${limit} bytes`, undefined, headers);
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return parseExact(decoder.decode(bytes));
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'it is not UTF-8';
    throw new ApiError(400, 'INVALID_JSON', `The body is not valid JSON: ${reason}; send a JSON object in UTF-8`);
  }
}
