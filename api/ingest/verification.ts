// Verifies a webhook against its source, and makes the answer when it is refused.
//
// Who cannot prove who they are learns nothing about a source with a token, or one that is concealed: unknown, disabled
// and badly signed look the same, in status, body and headers, and as far as that goes in time: each reads the whole
// body, hashes it once, and asks PostgreSQL once. A source that is not concealed tells a bad signature (401), but not
// whether it is disabled.
import { createHmac, randomBytes } from 'node:crypto';
import { pathProblem } from '../../core/ingest/ingest-url.ts';
import { type Reply, isSignable, replyTo } from '../../core/verification/handshakes.ts';
import {
  type Credentials,
  needsSecret,
  type RawRequest,
  type Verification,
  verify,
  withoutToken,
} from '../../core/verification/index.ts';
import { KeysAwayError, type PublishedKeys } from '../../core/verification/published-keys.ts';
import type { ProviderKeys } from '../../outbound/provider-keys.ts';
import { ApiError, suspended } from '../request/errors.ts';
import { unavailable } from './answer.ts';
import { addressProblem, pathBelow, type Received } from './received.ts';
import type { RoutingCache, SourceRouting } from './routing.ts';

export type Authentication =
  | { kind: 'accepted'; source: SourceRouting; mac: Buffer | null }
  /** It is no webhook: a sender asks whether this is an address of the owner. */
  | { kind: 'handshake'; source: SourceRouting; reply: Reply }
  /** `cause`: what it lacks, which the answer may conceal; null where the answer says why. */
  | { kind: 'refused'; error: ApiError; cause: 'token' | 'path' | 'signature' | null };

/**
 * Under which address senders know this service, and who is asked for the keys that the sender of a source publishes.
 */
interface Asking {
  baseUrl: string;
  keysOf: (source: SourceRouting) => PublishedKeys;
}

/**
 * @param source null when there is none by this name
 * @throws KeysAwayError when a key of the sender is needed, and cannot be had now
 */
export async function authenticateWebhook(
  source: SourceRouting | null,
  received: Received,
  { baseUrl, keysOf }: Asking,
): Promise<Authentication> {
  if (source === null) return notFound(received, 'token');
  const wrong = addressProblem(source, received, received.receivedAt.getTime());
  if (wrong !== null) return notFound(received, wrong);
  const { handshakes, credentials } = source;
  const request = received.raw(baseUrl);
  const early = handshakes.length === 0 ? null : replyTo(handshakes, credentials, request, false);
  if (early !== null && (early.isProven || answersStrangers(source, received)))
    return answered(source, received, early);
  const { verification, used } = await verified(source, request, keysOf(source));
  if (!verification.valid) {
    return source.concealed ? notFound(received, 'signature', verification) : badSignature(source, verification);
  }
  // One that proves nothing was not answered before, because it would have told a stranger of the source.
  const late = early ?? (handshakes.length === 0 ? null : replyTo(handshakes, used, request, true));
  if (late !== null) return answered(source, received, late);
  if (handshakes.some(({ kind }) => kind === 'query-hmac') && isSignable(received.body))
    return badSignature(source, FOR_ANYONE);
  const closed = closedBy(source, received.sourceSlug);
  if (closed !== null) return { kind: 'refused', error: closed, cause: null };
  const problem = pathProblem(pathBelow(source, received));
  if (problem !== null) return { kind: 'refused', error: badPath(problem), cause: 'path' };
  return { kind: 'accepted', source, mac: verification.mac };
}

/** Verifies with the credentials of the source and, during a rotation, with those before. @throws KeysAwayError */
async function verified(
  { sender, credentials, previous }: SourceRouting,
  request: RawRequest,
  keys: PublishedKeys,
): Promise<{ verification: Verification; used: Credentials }> {
  const refused = (reason: string) => ({ verification: { valid: false, reason } as const, used: credentials });
  if (sender === null) return refused("This version of Hookyard does not support the source's provider");
  if (credentials.secret === '' && needsSecret(sender.verification))
    return refused('The provider has not sent its secret yet');
  const verification = await verify(sender.verification, credentials, request, keys);
  if (verification.valid || previous === null || request.nowMs >= previous.untilMs)
    return { verification, used: credentials };
  const earlier = await verify(sender.verification, previous.credentials, request, keys);
  return earlier.valid ? { verification: earlier, used: previous.credentials } : { verification, used: credentials };
}

/** The headers and the query of a webhook as they are stored: a token that its sender sends is not among them. */
export function storedParts({ sender }: SourceRouting, { headerBytes: headers, queryText }: Received) {
  return sender === null ? { headers, queryText } : withoutToken(sender.verification, { headers, queryText });
}

const FOR_ANYONE = {
  reason: 'The body looks like a handshake challenge, which anyone can get signed, so its signature proves nothing',
};

function answered(source: SourceRouting, { sourceSlug }: Received, reply: Reply): Authentication {
  const error = closedBy(source, sourceSlug);
  return error === null ? { kind: 'handshake', source, reply } : { kind: 'refused', error, cause: null };
}

/** Whether a handshake may tell someone who proves nothing that there is such a source, and that it takes webhooks. */
function answersStrangers(source: SourceRouting, { sourceSlug }: Received): boolean {
  const isHidden = source.concealed && source.tokens.rule !== 'required';
  return !isHidden && closedBy(source, sourceSlug) === null;
}

/** Whether a source takes nothing from those who only know its name. */
export function asksForProof({ tokens, sender }: SourceRouting): boolean {
  return tokens.rule === 'required' || sender?.verification.kind !== 'none';
}

type Named = Pick<Received, 'organizationSlug' | 'sourceSlug' | 'below'>;

/** Characters of a path segment that an error message repeats: a longer segment may be a token. */
const LONGEST_SEGMENT = 15;
const LONGEST_PATH = 100;

/** 404: no source by this name, or one that must look so. */
export function unknownSource({ organizationSlug, sourceSlug, below }: Named) {
  const at = `/ingest/${organizationSlug}/${sourceSlug}`;
  const path = below.replaceAll(new RegExp(`[^/]{${LONGEST_SEGMENT + 1},}`, 'g'), '…').slice(0, LONGEST_PATH);
  const message =
    path === ''
      ? `No source at ${at}; send webhooks to a source's webhookUrl`
      : `The path ${path} below ${at} is not accepted; send webhooks to a source's webhookUrl, or set the source's allowPaths to true`;
  return new ApiError(404, 'RESOURCE_NOT_FOUND', message);
}

/** Why a source takes nothing from anyone; null when it does. */
export function closedBy({ enabled, standing }: SourceRouting, sourceSlug: string): ApiError | null {
  if (standing.suspended) return suspended('nothing was stored');
  if (enabled) return null;
  return new ApiError(403, 'SOURCE_DISABLED', `The source ${sourceSlug} is disabled; nothing was stored`);
}

function badSignature({ sender }: SourceRouting, { reason }: { reason: string }): Authentication {
  const error = new ApiError(401, 'INVALID_SIGNATURE', `${reason}; nothing was stored`);
  error.isEmpty = sender?.refusal === 'empty';
  return { kind: 'refused', error, cause: 'signature' };
}

function badPath(problem: string): ApiError {
  const message = `The path below the ingest URL ${problem}; nothing was stored`;
  return new ApiError(400, 'INVALID_PATH', message);
}

const NO_KEY = randomBytes(32);

function notFound(
  received: Received,
  cause: 'token' | 'path' | 'signature',
  verification?: Verification & { valid: false },
): Authentication {
  // A large body takes milliseconds to hash, which would tell a source that verifies from one that does not exist.
  if (!verification?.hashed) createHmac('sha256', NO_KEY).update(received.body).digest();
  return { kind: 'refused', error: unknownSource(received), cause };
}

// A provider that is away is not asked again sooner (outbound/provider-keys.ts).
const KEYS_RETRY_SECONDS = 5;

/**
 * The source and the right signature, after the request was verified. A cached source accepts; only a current one
 * refuses, or answers a handshake, behind which no statement checks its version.
 * @throws ApiError
 */
export async function verifiedSource(
  deps: { routing: RoutingCache; providerKeys: ProviderKeys; baseUrl: () => string },
  received: Received,
): Promise<Exclude<Authentication, { kind: 'refused' }>> {
  const { routing, providerKeys, baseUrl } = deps;
  const { organizationSlug, sourceSlug } = received;
  const asking: Asking = { baseUrl: baseUrl(), keysOf: (source) => providerKeys.of(source) };
  const outcomeOf = (source: SourceRouting | null) => authenticateWebhook(source, received, asking).catch(withoutKeys);
  const known = await routing.get(organizationSlug, sourceSlug);
  const outcome = await outcomeOf(known);
  if (outcome.kind === 'accepted') return outcome;
  const current = await routing.getCurrent(organizationSlug, sourceSlug);
  const last = current === known ? outcome : await outcomeOf(current);
  received.source = current;
  if (last.kind === 'no-keys') return refuseWithoutKeys(last.error);
  if (last.kind !== 'refused') return last;
  received.cause = last.cause;
  throw last.error;
}

/**
 * Confirms what a provider asks for where the owner has allowed it: then there is nothing left to show.
 * @throws ApiError 503 when it could not be confirmed; the provider asks again
 */
export async function confirmed(providerKeys: ProviderKeys, source: SourceRouting, reply: Reply): Promise<Reply> {
  if (reply.visit === undefined || !source.confirmsSubscriptions) return reply;
  await providerKeys.visit(reply.visit, source).catch(refuseWithoutKeys);
  const { shown: _done, ...rest } = reply;
  return rest;
}

// The credentials with which a provider is asked may be those of before.
function withoutKeys(error: unknown): { kind: 'no-keys'; error: KeysAwayError } {
  if (error instanceof KeysAwayError) return { kind: 'no-keys', error };
  throw error;
}

/** Failure policy: without the key nothing is accepted, and the sender comes again. */
function refuseWithoutKeys(error: unknown): never {
  if (error instanceof KeysAwayError) throw unavailable(error.message, KEYS_RETRY_SECONDS);
  throw error;
}
