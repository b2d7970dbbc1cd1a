// Whether a source takes a request, and what someone is told whom it refuses.
//
// Who cannot prove who they are learns nothing about a source with a token, or one that is concealed: unknown, disabled and badly
// signed look the same, in status, body and headers, and as far as that goes in time: each reads the whole body, hashes it once,
// and asks PostgreSQL once. A source that is not concealed tells a bad signature (401), but not whether it is disabled.
// Rules: INGEST-05 to INGEST-07, INGEST-10, INGEST-22, INGEST-25, INGEST-27, PRV-11, PRV-12.
import { createHmac, randomBytes } from 'node:crypto';
import { pathProblem } from '../../core/ingest/ingest-path.ts';
import { type Verification, verifySignature } from '../../core/signatures/index.ts';
import { type Reply, replyTo } from '../../core/verification/handshakes.ts';
import { isSignable } from '../../core/verification/query-hmac.ts';
import { ApiError, suspended } from '../request/errors.ts';
import { addressProblem, pathBelow, type Received } from './received.ts';
import { type Judging, requestOf, verifyByProvider } from './provided.ts';
import type { SourceRouting } from './routing.ts';

export type Verdict =
  | { kind: 'accepted'; source: SourceRouting; mac: Buffer | null }
  /** It is no webhook: a provider asks whether this is an address of the owner. */
  | { kind: 'handshake'; source: SourceRouting; reply: Reply }
  /** `cause`: what it lacks, which the answer may conceal; null where the answer says why. */
  | { kind: 'refused'; error: ApiError; cause: 'token' | 'path' | 'signature' | null };

/** Of whom the provider of a source is asked for keys. */
export type JudgingFor = Pick<Judging, 'baseUrl'> & { keysFor: (source: SourceRouting) => Judging['keys'] };

/**
 * @param source null when there is none by this name
 * @throws KeysAwayError when a key of the provider is needed, and cannot be had now
 */
export async function judge(
  source: SourceRouting | null,
  received: Received,
  { baseUrl, keysFor }: JudgingFor,
): Promise<Verdict> {
  const nowMs = received.receivedAt.getTime();
  if (source === null) return notFound(received, 'token');
  const wrong = addressProblem(source, received, nowMs);
  if (wrong !== null) return notFound(received, wrong);
  const { provided, handshakes, credentials } = source;
  const request = requestOf(received, baseUrl);
  const early = handshakes.length === 0 ? null : replyTo(handshakes, credentials, request, false);
  if (early !== null && (early.isProven || answersStrangers(source, received)))
    return answered(source, received, early);
  const { verification, used } =
    provided === null
      ? { verification: verify(source, received, nowMs), used: credentials }
      : await verifyByProvider(provided, request, keysFor(source));
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

const FOR_ANYONE = { reason: 'The body is like the texts whose signature the check of the address gives to anyone' };

function answered(source: SourceRouting, { sourceSlug }: Received, reply: Reply): Verdict {
  const error = closedBy(source, sourceSlug);
  return error === null ? { kind: 'handshake', source, reply } : { kind: 'refused', error, cause: null };
}

/** Whether a handshake may tell someone who proves nothing that there is such a source, and that it takes webhooks. */
function answersStrangers(source: SourceRouting, { sourceSlug }: Received): boolean {
  const isHidden = source.concealed && source.tokens.rule !== 'required';
  return !isHidden && closedBy(source, sourceSlug) === null;
}

/** Verifies with the source's secret and, during a rotation, with the one before. */
function verify({ verification, previous }: SourceRouting, received: Received, nowMs: number): Verification {
  if (verification.type === 'provider') return { valid: false, reason: 'The provider of the source is unknown' };
  const request = { headers: received.headerBytes, body: received.body, nowMs };
  const outcome = verifySignature(verification, request);
  if (outcome.valid || previous === null || nowMs >= previous.untilMs) return outcome;
  const earlier = verifySignature(previous.verification, request);
  return earlier.valid ? earlier : outcome;
}

/** Whether a source takes nothing from those who only know its name. */
export function asksForProof({ tokens, verification }: SourceRouting): boolean {
  return tokens.rule === 'required' || verification.type !== 'none';
}

type Named = Pick<Received, 'organizationSlug' | 'sourceSlug' | 'below'>;

/** 404: no source by this name, or one that must look so. */
export function unknownSource({ organizationSlug, sourceSlug, below }: Named) {
  const at = `/ingest/${organizationSlug}/${sourceSlug}`;
  const message = below.includes('/', 1)
    ? `No source receives webhooks at this path below ${at}; send to the webhookUrl of a source, or set its allowPaths`
    : `No source receives webhooks at ${at}; send to the webhookUrl of a source`;
  return new ApiError(404, 'RESOURCE_NOT_FOUND', message);
}

/** Why a source takes nothing from anyone; null when it does. */
export function closedBy({ enabled, standing }: SourceRouting, sourceSlug: string): ApiError | null {
  if (standing.suspended) return suspended('nothing was stored');
  if (enabled) return null;
  return new ApiError(403, 'SOURCE_DISABLED', `The source ${sourceSlug} is disabled; nothing was stored`);
}

function badSignature({ provided }: SourceRouting, { reason }: { reason: string }): Verdict {
  const error = new ApiError(401, 'INVALID_SIGNATURE', `${reason}; nothing was stored`);
  error.isEmpty = provided?.provider?.refusal === 'empty';
  return { kind: 'refused', error, cause: 'signature' };
}

function badPath(problem: string): ApiError {
  const message = `The path below the address of the source ${problem}; nothing was stored`;
  return new ApiError(400, 'INVALID_PATH', message);
}

const NO_KEY = randomBytes(32);

function notFound(
  received: Received,
  cause: 'token' | 'path' | 'signature',
  verification?: Verification & { valid: false },
): Verdict {
  // A large body takes milliseconds to hash, which would tell a source that verifies from one that does not exist.
  if (!verification?.hashed) createHmac('sha256', NO_KEY).update(received.body).digest();
  return { kind: 'refused', error: unknownSource(received), cause };
}
