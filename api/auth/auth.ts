// Who a request comes from: its API key, or the operator's key, and how often an address may be wrong.
import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { hashToken } from '../../core/config/api-token.ts';
import { isUsable, type Settings } from '../../core/config/config.ts';
import { currentSecret } from '../../core/config/secret-files.ts';
import type { Tuning } from '../../core/config/tuning.ts';
import { limitConcurrency, QueueFullError } from '../../core/fairness/concurrency.ts';
import { limitsOf } from '../../core/fairness/organization-limits.ts';
import { WindowCounts } from '../../core/fairness/rate-limits.ts';
import { clientOf, isAllowedFrom } from '../../core/http/addresses.ts';
import type { Log } from '../../core/process/log.ts';
import { plural } from '../../core/text/words.ts';
import { actingFor } from '../../db/connections/by-organization.ts';
import { findKey, noteUse, type ValidKey } from '../../db/organizations/keys.ts';
import { type ApiDeps, type Caller, callerOf, type Context, type Next, param } from '../request/context.ts';
import { type ApiError, forbidden, missing, rateLimited, unauthorized } from '../request/errors.ts';
import { type FirstOfMinute, recordRefusedUses } from './audit-trail.ts';

const WINDOW_MS = 60_000;
/** More addresses than these share one count until the minute ends. */
const MAX_ADDRESSES = 10_000;
/** Keys that were valid; those that were not used for longest are forgotten. */
const MAX_KNOWN_KEYS = 10_000;
const LOOKUPS_AT_ONCE = 2;
const MAX_WAITING = 50;

/**
 * Counts requests with wrong credentials of each client address (an IPv4 address, or the /64 of an IPv6 one) in this
 * process; beyond the limit they are answered 429. A valid key is let in from every address whatever others there do:
 * behind one NAT or proxy a stranger must not lock out a tenant. What guesses may cost is bounded instead: keys that
 * this process has not seen before are looked up two at a time for all addresses beyond their limit.
 * @param perMinute wrong credentials of one address that are answered 401
 */
export function createSignIns(perMinute: number, log: Log) {
  const failures = new WindowCounts({
    windowMs: WINDOW_MS,
    mostNames: MAX_ADDRESSES,
    onPassed: (counts) => tell(log, counts),
  });
  const known = new LRUCache<string, true>({ max: MAX_KNOWN_KEYS });
  const inTurn = limitConcurrency(LOOKUPS_AT_ONCE, MAX_WAITING);

  async function remembered<T>(keyHash: string, find: () => Promise<T | null>): Promise<T | null> {
    const found = await find();
    // One that was revoked or has expired is no longer known.
    if (found === null) known.delete(keyHash);
    else known.set(keyHash, true);
    return found;
  }

  return {
    /** Looks a key up; from an address beyond its limit only in turn. @throws ApiError 429 */
    lookUp<T>(address: string, keyHash: string, find: () => Promise<T | null>): Promise<T | null> {
      if (known.has(keyHash) || failures.of(clientOf(address)) < perMinute) return remembered(keyHash, find);
      return inTurn(() => remembered(keyHash, find)).catch((error: unknown) => {
        throw error instanceof QueueFullError ? tooMany(1) : error;
      });
    },
    /** Counts a request with wrong credentials. @returns the error to answer with: 429 beyond the limit, else null */
    fail(address: string): ApiError | null {
      if (failures.add(clientOf(address)) <= perMinute) return null;
      return tooMany(Math.ceil((failures.endsAt - Date.now()) / 1000));
    },
  };
}

/** One line for each minute that had some, written when the next one has. */
function tell(log: Log, counts: ReadonlyMap<string, number>): void {
  const failed = [...counts].toSorted(([, one], [, other]) => other - one);
  const [address = '', requests = 0] = failed[0] ?? [];
  log.warn(
    {
      requests: failed.reduce((sum, [, count]) => sum + count, 0),
      addresses: failed.length,
      most: { address, requests },
    },
    'requests in one minute had missing or invalid credentials',
  );
}

const tooMany = (seconds: number): ApiError =>
  rateLimited(
    `Too many requests with invalid credentials from this address; wait ${plural(seconds, 'second')}`,
    seconds,
  );

type Deps = Pick<ApiDeps, 'pool' | 'servicePool' | 'tuning' | 'log'>;

// Every token begins so (newToken); HOOKYARD_API_KEY may be shorter than a generated one.
const TOKEN = /^whr_[A-Za-z0-9_-]{16,}$/;

/** Middleware: 401 without a valid key, 403 from an address that the key may not be used from. */
export function authenticate(
  { pool, servicePool, tuning, log }: Deps,
  firsts: FirstOfMinute,
): (ctx: Context, next: Next) => Promise<void> {
  const signIns = createSignIns(tuning.failedSignInsPerMinute, log);
  const noteRefusedUse = recordRefusedUses(servicePool, firsts);

  // It may wait for the row, so it counts for the organization.
  const noteUseOf = ({ organizationId, id }: ValidKey) =>
    actingFor(organizationId, () => noteUse(pool, organizationId, id));

  async function find(token: string, address: string): Promise<ValidKey | null> {
    const hash = hashToken(token);
    const key = await signIns.lookUp(address, hash.toString('base64'), () => findKey(servicePool, hash));
    return key && timingSafeEqual(key.tokenHash, hash) ? key : null;
  }

  return async (ctx, next) => {
    const { address } = ctx.state.client;
    const token = tokenOf(ctx);
    // What cannot be a token is not looked up.
    const key = token !== undefined && TOKEN.test(token) ? await find(token, address) : null;
    if (!key)
      throw signIns.fail(address) ?? withoutCredentials('an API key as Authorization: Bearer whr_..., or as X-API-Key');
    ctx.state.caller = callerWith(key);
    if (key.allowedAddresses !== null && !isAllowedFrom(address, key.allowedAddresses)) {
      noteRefusedUse(ctx);
      // Only who has the key gets this answer.
      throw forbidden(`This API key cannot be used from ${address}; see the key's allowedAddresses`);
    }
    // Failure policy: the request neither waits for this nor fails because of it; the next request records the use.
    if (key.useIsDue) noteUseOf(key).catch(() => undefined);
    await next();
  };
}

/** `Authorization` counts when it has a token; what a proxy has put there for itself is passed over. */
function tokenOf(ctx: Context): string | undefined {
  const key = ctx.get('x-api-key');
  return /^Bearer +(\S+) *$/i.exec(ctx.get('authorization'))?.[1] ?? (key === '' ? undefined : key);
}

function callerWith(key: ValidKey): Caller {
  const { id, name, scopes, allowedAddresses, expiresAt } = key;
  return {
    organization: {
      id: key.organizationId,
      name: key.organizationName,
      slug: key.slug,
      plan: key.plan,
      suspended: key.suspended,
      limits: limitsOf(key.plan, key.limits),
    },
    key: { id, name, scopes, allowedAddresses, expiresAt },
  };
}

const withoutCredentials = (advice: string): ApiError => unauthorized(`Missing or invalid credentials; send ${advice}`);

/** Middleware of the organization-scoped family: the id of another organization gets the same 404 as an unknown id. */
export async function requireOwnOrganization(ctx: Context, next: Next): Promise<void> {
  const id = param(ctx, 'orgId');
  if (id !== callerOf(ctx).organization.id)
    throw missing(`The API key does not belong to an organization with ID ${id}; check the ID`);
  await next();
}

// The operator's key (HOOKYARD_OPERATOR_KEY): for what is about the whole installation, which no API key may see,
// because each belongs to an organization. It is a setting and not a record, so that it works while PostgreSQL is away.

interface OperatorDeps {
  settings: Pick<Settings, 'HOOKYARD_OPERATOR_KEY' | 'HOOKYARD_OPERATOR_KEY_FILE'>;
  tuning: Pick<Tuning, 'failedSignInsPerMinute'>;
  log: Log;
}

/** Middleware: 404 where there is no such key, 401 without it. */
export function requireOperator({ settings, tuning, log }: OperatorDeps): (ctx: Context, next: Next) => Promise<void> {
  const expected = currentSecret(settings, 'HOOKYARD_OPERATOR_KEY', {
    isUsable: (text) => isUsable('HOOKYARD_OPERATOR_KEY', text),
  });
  const signIns = createSignIns(tuning.failedSignInsPerMinute, log);
  return async (ctx, next) => {
    if (expected === undefined) throw missing(`No such endpoint: ${ctx.path}; set HOOKYARD_OPERATOR_KEY to enable it`);
    const given = /^Bearer +(\S+) *$/i.exec(ctx.get('authorization'))?.[1] ?? '';
    // Hashes have one length, and tell nothing by the time that comparing them takes.
    if (!timingSafeEqual(hashToken(given), hashToken(expected())))
      throw (
        signIns.fail(ctx.state.client.address) ??
        withoutCredentials('the operator key as Authorization: Bearer ...; API keys are not accepted')
      );
    await next();
  };
}
