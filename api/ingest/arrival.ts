// A webhook while it is received: what is known of it so far, should it be refused.
import type Koa from 'koa';
import type { HeaderBytes } from '../../core/http/header-text.ts';
import type { RefusalCause } from '../../core/ingest/refusal.ts';
import type { ApiState } from '../request/context.ts';
import type { ReceivedParts } from './received.ts';
import type { SourceRouting } from './routing.ts';

export interface Arrival extends Omit<ReceivedParts, 'body'> {
  /** As it was last looked up; null: there is none by this name, or it has not been looked up. */
  source: SourceRouting | null;
  /** Null until it has come. */
  body: Buffer | null;
  /** Why it was refused, where its sender may not be told. */
  cause: RefusalCause | null;
}

/** The path is matched with the form of ingest addresses. */
export function arrivalOf(
  ctx: Koa.Context,
  [, organizationSlug = '', sourceSlug = '', below = '']: RegExpExecArray,
  headers: HeaderBytes,
  receivedAt: Date,
): Arrival {
  const { client }: ApiState = ctx.state;
  return {
    organizationSlug,
    sourceSlug,
    below,
    method: ctx.method,
    queryText: ctx.querystring,
    headers,
    rawHeaders: ctx.req.rawHeaders,
    clientAddress: client.address,
    receivedAt,
    source: null,
    body: null,
    cause: null,
  };
}
