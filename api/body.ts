// Reads JSON bodies of the management API; each refusal as decided in "HTTP conventions".
import getRawBody from 'raw-body';
import type { AppContext } from './context.ts';
import { ApiError } from './errors.ts';

/** Largest body of a management request, in bytes. */
export const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Reads a request's JSON body.
 * @param maxBytes largest body that is taken
 * @returns the parsed value; undefined when there is no body
 * @throws ApiError 415 for another content type, 413 when it is too large, 400 when it is no JSON
 */
export async function readJson(ctx: AppContext, maxBytes: number = MAX_BODY_BYTES): Promise<unknown> {
  const declared = ctx.request.length;
  if (declared === 0 || (declared === undefined && ctx.get('transfer-encoding') === '')) return undefined;
  if (!ctx.is('application/json')) {
    throw new ApiError(415, 'UNSUPPORTED_MEDIA_TYPE', 'The body must be sent with Content-Type: application/json');
  }
  const encoding = ctx.get('content-encoding').toLowerCase();
  if (encoding !== '' && encoding !== 'identity') {
    throw new ApiError(415, 'UNSUPPORTED_MEDIA_TYPE', 'The body must be sent without Content-Encoding');
  }
  return parseJson(await readBytes(ctx, maxBytes));
}

async function readBytes(ctx: AppContext, limit: number): Promise<Buffer> {
  try {
    return await getRawBody(ctx.req, { limit, length: ctx.request.length });
  } catch (error) {
    const type = error instanceof Error && 'type' in error ? error.type : undefined;
    if (type === 'entity.too.large') {
      // The rest of the body is not read, so the connection cannot carry another request.
      throw new ApiError(413, 'PAYLOAD_TOO_LARGE', `The body must be at most ${limit} bytes`, undefined, {
        Connection: 'close',
      });
    }
    if (type === 'request.aborted' || type === 'request.size.invalid') {
      throw new ApiError(400, 'INVALID_JSON', 'The body ended before its announced length');
    }
    throw error;
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'it is not UTF-8';
    throw new ApiError(400, 'INVALID_JSON', `The body is not valid JSON: ${reason}`);
  }
}
