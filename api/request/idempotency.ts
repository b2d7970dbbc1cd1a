// `Idempotency-Key` on the POST requests of the management API: a repeat gets the stored answer of the first request
// and changes nothing.
import { createHash } from 'node:crypto';
import { lacking } from '../../core/config/plans-and-scopes.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { DecryptionError } from '../../db/encryption/secret-box.ts';
import {
  type Claim,
  type Claimed,
  claimRequest,
  keepAnswer,
  RENEW_MS,
  releaseClaim,
  renewClaim,
} from '../../db/organizations/idempotent-requests.ts';
import { bufferBody } from './validation.ts';
import { type ApiDeps, type Context, callerOf, type Next, organizationId, logOf } from './context.ts';
import { ApiError, errorBody, forbidden, invalid } from './errors.ts';
import { IGNORED_HEADER } from './ignored.ts';
import type { Described } from './operation.ts';

const HEADER = 'idempotency-key';
const MAX_KEY_LENGTH = 255;
const KEY = new RegExp(`^[\\x21-\\x7e]{1,${MAX_KEY_LENGTH}}$`);

type Deps = Pick<ApiDeps, 'pool' | 'secretBox'>;

interface KeptAnswer {
  status: number;
  headers: Record<string, string>;
  /** JSON; null when there was none. */
  body: string | null;
}

/**
 * Middleware of an operation; runs after `authenticate`. A key is kept for 24 hours per organization, operation and
 * parameters of the path, in PostgreSQL, so it holds across processes and restarts. Answers of 500 and above, and 429,
 * are not kept: clients should retry these. Failure policy: when the process dies during a request, it is unknown how
 * far the request came. Its lease expires after 30 seconds, and the next repeat runs it again. The same happens when
 * only the answer could not be stored.
 */
export function idempotency(deps: Deps, operation: Described): (ctx: Context, next: Next) => Promise<void> {
  return async (ctx, next) => {
    if (ctx.method !== 'POST' || ctx.req.headers[HEADER] === undefined) return next();
    const key = ctx.get(HEADER);
    if (!KEY.test(key))
      throw invalid('Idempotency-Key', `must be 1 to ${MAX_KEY_LENGTH} visible ASCII characters, without spaces`);
    const request = {
      organizationId: organizationId(ctx),
      id: sha256(JSON.stringify([operationOf(operation), parametersOf(ctx), key])),
      bodyHash: sha256(await bufferBody(ctx)),
      scopes: callerOf(ctx).key.scopes,
    };
    const found = await claimRequest(deps.pool, request);
    if (found.kind === 'claimed') return run(ctx, deps, found.claim, next);
    refuseUnlessAnswered(found);
    requireScopes(found.scopes, request.scopes);
    repeat(ctx, open(deps, request, found.answer));
  };
}

/**
 * What is done, however its path is written: both families of paths reach the same records, so a request that a client
 * repeats at the other one is a repeat too. No `POST` has parameters in its query.
 */
const operationOf = ({ method, path }: Described): string =>
  `${method} ${path.replace(/^\/api\/organizations\/\{orgId\}\//, '/api/')}`;

function parametersOf(ctx: Context): [string, string | undefined][] {
  return Object.entries(ctx.params)
    .filter(([name]) => name !== 'orgId')
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}

async function run(ctx: Context, deps: Deps, claim: Claim, next: Next): Promise<void> {
  // Renewing may fail while PostgreSQL is down; the next renewal succeeds, or the claim is lost.
  const renewing = setInterval(() => renewClaim(deps.pool, claim).catch(() => undefined), RENEW_MS);
  try {
    await next();
    await settle(ctx, deps, claim, { status: ctx.status, headers: keptHeaders(ctx), body: bodyText(ctx.body) });
  } catch (error) {
    await settle(ctx, deps, claim, error instanceof ApiError ? answerOf(ctx, error) : null);
    throw error;
  } finally {
    clearInterval(renewing);
  }
}

function answerOf(ctx: Context, error: ApiError): KeptAnswer {
  const headers = { ...keptHeaders(ctx), ...error.headers };
  return { status: error.status, headers, body: JSON.stringify(errorBody(error)) };
}

function keptHeaders(ctx: Context): Record<string, string> {
  const names = [IGNORED_HEADER, 'ETag'].filter((name) => ctx.response.get(name) !== '');
  return Object.fromEntries(names.map((name) => [name, ctx.response.get(name)]));
}

function bodyText(body: unknown): string | null {
  return body === undefined || body === null ? null : JSON.stringify(body);
}

async function settle(ctx: Context, deps: Deps, claim: Claim, answer: KeptAnswer | null): Promise<void> {
  try {
    if (answer === null || answer.status >= 500 || answer.status === 429) await releaseClaim(deps.pool, claim);
    else await keepAnswer(deps.pool, claim, deps.secretBox.encrypt(JSON.stringify(answer), recordId(claim)));
  } catch (error) {
    logOf(ctx).warn({ cause: causeOf(error) }, 'failed to store the response to a request with an Idempotency-Key');
  }
}

function refuseUnlessAnswered(found: Exclude<Claimed, { kind: 'claimed' }>): asserts found is Answered {
  if (found.kind === 'reused')
    throw new ApiError(
      422,
      'IDEMPOTENCY_KEY_REUSED',
      'This Idempotency-Key was used with a different body in the last 24 hours; use a new key for a new request',
    );
  if (found.kind === 'running')
    throw new ApiError(
      409,
      'IDEMPOTENCY_KEY_IN_USE',
      'The first request with this Idempotency-Key is still running; repeat the request in a moment to get the response',
      undefined,
      { 'Retry-After': '1' },
    );
}
type Answered = Extract<Claimed, { kind: 'answered' }>;

// A stored answer may hold secrets, such as a new API key, so it is bound to the scopes of the caller.
function requireScopes(needed: string[], held: string[]): void {
  const missing = lacking(held, needed);
  if (missing === undefined) return;
  throw forbidden(`The stored response for this Idempotency-Key requires an API key with the scope "${missing}"`);
}

function open(deps: Deps, request: Pick<Claim, 'organizationId' | 'id'>, sealed: string): KeptAnswer {
  try {
    return JSON.parse(deps.secretBox.decrypt(sealed, recordId(request)));
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    throw new ApiError(
      409,
      'IDEMPOTENCY_ANSWER_LOST',
      'The request with this Idempotency-Key was processed, but its response cannot be decrypted with the current encryption keys',
    );
  }
}

/** Additional data of the encryption: an answer that was copied to another row cannot be decrypted. */
function recordId({ organizationId: organization, id }: Pick<Claim, 'organizationId' | 'id'>): string {
  return `${organization}:${id.toString('hex')}`;
}

function repeat(ctx: Context, answer: KeptAnswer): void {
  ctx.status = answer.status;
  ctx.set({ ...answer.headers, 'Idempotent-Replayed': 'true' });
  if (answer.body === null) return;
  ctx.body = answer.body;
  ctx.type = 'application/json';
}
