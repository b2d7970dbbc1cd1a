// Gives every request an id and its client's address, and writes one line about it: never its query, payload, credentials or ingest token.
// Probes and refused requests have their line at level `debug` only; the refused are counted (refused-requests.ts).
// Rules: HTTP-26.
import { newId } from '../../core/text/ids.ts';
import type { Log } from '../../core/process/log.ts';
import { clientAddressOf, type ProxyTrust } from './client-addresses.ts';
import type { AppContext, Next } from '../request/context.ts';
import { isRefusal, type Refusal, type RefusedRequests } from './refused-requests.ts';

const PROBES = ['/healthz', '/readyz', '/metrics'];
const isProbe = ({ path }: { path: string }): boolean => PROBES.includes(path);
const SANE_REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/**
 * Middleware: `X-Request-Id` on the response (the sender's own when it is valid), and the request's line.
 * @param proxies the operator's own, which say whom a request comes from
 */
export function requestLog(
  log: Log,
  proxies: ProxyTrust,
  refused: RefusedRequests,
): (ctx: AppContext, next: Next) => Promise<void> {
  return async (ctx, next) => {
    const began = performance.now();
    const received = ctx.get('x-request-id');
    const requestId = SANE_REQUEST_ID.test(received) ? received : newId('req');
    ctx.state.requestId = requestId;
    ctx.state.client = clientAddressOf(ctx.req, proxies);
    ctx.state.log = log;
    ctx.set('X-Request-Id', requestId);
    await next();
    const { caller, client } = ctx.state;
    const isRefused = !isProbe(ctx) && isRefusal(ctx.status, caller !== undefined);
    if (isRefused) refused.note(refusalOf(ctx));
    const line = {
      requestId,
      method: ctx.method,
      path: withoutToken(ctx.path),
      status: ctx.status,
      ms: Math.round(performance.now() - began),
      client: client.address,
      organizationId: caller?.organization.id,
    };
    if (isProbe(ctx) || isRefused) log.debug(line, 'request');
    else log.info(line, 'request');
  };
}

function refusalOf({ status, state }: AppContext): Refusal {
  const { requestId, client, caller, source, errorCode = 'NONE' } = state;
  const organizationId = caller?.organization.id ?? source?.organizationId;
  return { status, code: errorCode, requestId, client: client.address, organizationId, sourceId: source?.sourceId };
}

/** Hides the unguessable part of an ingest address, and of the link by which an owner agrees to notifications. */
function withoutToken(path: string): string {
  return path.replace(/^(\/ingest\/[^/]*\/[^/]*\/|\/notifications\/confirm\/).+/, '$1****');
}
