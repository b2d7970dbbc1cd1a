// How a webhook or a handshake is answered.
import type Koa from 'koa';
import type { IngestResult } from '../../core/metrics/ingest.ts';
import type { Reply } from '../../core/verification/handshakes.ts';
import type { SourceRouting } from './routing.ts';
import { ApiError } from '../request/errors.ts';

export interface IngestAnswer {
  result: IngestResult;
  status: number;
  headers: Record<string, string>;
  /** Text with its content type, or an object that is sent as JSON; null: no body. */
  body: { type: string; text: string } | { json: object } | null;
}

// What a tenant wrote, or a stranger sent, is served from the address of the API: no browser guesses another type, nor
// lets it do anything.
const TENANTS_CONTENT = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "sandbox; default-src 'none'",
};

/** @param outcome the default answer's body */
export function acceptedAnswer(
  { answer }: Pick<SourceRouting, 'answer'>,
  outcome: { eventId: string; duplicate?: true },
): IngestAnswer {
  const result = outcome.duplicate ? 'duplicate' : 'stored';
  if (answer === null) return { result, status: 200, headers: {}, body: { json: { success: true, ...outcome } } };
  const { status, body, contentType } = answer;
  return { result, status, headers: TENANTS_CONTENT, body: body === '' ? null : { type: contentType, text: body } };
}

/** What came from a stranger goes back as text or JSON that no browser takes for a page. */
export function handshakeAnswer({ status, headers, content }: Reply): IngestAnswer {
  return {
    result: 'challenge',
    status,
    headers: { ...headers, ...TENANTS_CONTENT },
    body: content && { type: content.type, text: content.body },
  };
}

export function writeAnswer(ctx: Koa.Context, { result, status, headers, body }: IngestAnswer): void {
  ctx.state.ingestResult = result;
  ctx.status = status;
  ctx.set(headers);
  if (body === null) writeEmpty(ctx, 'Content-Type' in headers);
  else if ('json' in body) ctx.body = body.json;
  else {
    ctx.type = body.type;
    ctx.body = body.text;
  }
}

/** @param isTyped whether the content type is one that the sender wants, although there is no content */
function writeEmpty(ctx: Koa.Context, isTyped: boolean): void {
  // Koa makes 204 of an answer without a body.
  if (ctx.status !== 204 && ctx.status !== 205) ctx.body = '';
  if (!isTyped) ctx.remove('Content-Type');
  // Koa takes the content type off an answer without content when it ends it, so the headers are sent before.
  else ctx.flushHeaders();
}

/** 503: the sender has to come again. @param reason a sentence without its end */
export function unavailable(reason: string, retryAfterSeconds: number = 1): ApiError {
  return new ApiError(503, 'UNAVAILABLE', `${reason}; nothing was stored, so send the webhook again`, undefined, {
    'Retry-After': String(retryAfterSeconds),
  });
}
