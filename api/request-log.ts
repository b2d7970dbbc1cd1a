// Gives every request an id and its client's address, and writes one line about it: never its query, payload, credentials or ingest token.
// Rules: HTTP-26.
import { newId } from '../core/ids.ts';
import type { Log } from '../core/log.ts';
import { clientAddressOf, type ProxyTrust } from './clients/client-addresses.ts';
import type { AppContext, Next } from './context.ts';

const SANE_REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/**
 * Middleware: `X-Request-Id` on the response (the sender's own when it is valid), a child logger, and the request's line.
 * @param proxies the operator's own, which say whom a request comes from
 */
export function requestLog(log: Log, proxies: ProxyTrust): (ctx: AppContext, next: Next) => Promise<void> {
  return async (ctx, next) => {
    const began = performance.now();
    const received = ctx.get('x-request-id');
    const requestId = SANE_REQUEST_ID.test(received) ? received : newId('req');
    ctx.state.requestId = requestId;
    ctx.state.client = clientAddressOf(ctx.req, proxies);
    ctx.state.log = log.child({ requestId });
    ctx.set('X-Request-Id', requestId);
    await next();
    ctx.state.log.info(
      {
        method: ctx.method,
        path: withoutToken(ctx.path),
        status: ctx.status,
        ms: Math.round(performance.now() - began),
        client: ctx.state.client.address,
        organizationId: ctx.state.caller?.organization.id,
      },
      'request',
    );
  };
}

/** Hides the unguessable part of an ingest address, and of the link by which an owner agrees to notifications. */
function withoutToken(path: string): string {
  return path.replace(/^(\/ingest\/[^/]*\/[^/]*\/|\/notifications\/confirm\/).+/, '$1****');
}
