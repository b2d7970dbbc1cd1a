// The source of a request, after it was verified. Where that takes keys of a provider, the provider is asked for them.
// Rules: INGEST-06, INGEST-07, PRV-16, PRV-17.
import type { Reply } from '../../core/verification/handshakes.ts';
import { KeysAwayError } from '../../core/verification/published/keys.ts';
import type { ProviderKeys } from '../../outbound/provider-keys/index.ts';
import type { Arrival, Received } from './received.ts';
import { judge, type JudgingFor, type Verdict } from './proof.ts';
import type { RoutingCache, SourceRouting } from './routing.ts';
import { unavailable } from './answer.ts';

// A provider that is away is not asked again sooner (outbound/provider-keys).
const KEYS_RETRY_SECONDS = 5;

/**
 * The source and the right signature, after the request was verified. A cached source accepts; only a current one refuses, or answers
 * a handshake, behind which no statement checks its version.
 * @throws ApiError
 */
export async function verifiedSource(
  deps: { routing: RoutingCache; providerKeys: ProviderKeys; baseUrl: () => string },
  arrival: Arrival,
  received: Received,
): Promise<Exclude<Verdict, { kind: 'refused' }>> {
  const { routing, providerKeys, baseUrl } = deps;
  const { organizationSlug, sourceSlug } = received;
  const judging: JudgingFor = { baseUrl: baseUrl(), keysFor: (source) => providerKeys.of(source) };
  const judged = (source: SourceRouting | null) => judge(source, received, judging).catch(unjudged);
  const known = await routing.get(organizationSlug, sourceSlug);
  const verdict = await judged(known);
  if (verdict.kind === 'accepted') return verdict;
  const current = await routing.getCurrent(organizationSlug, sourceSlug);
  const last = current === known ? verdict : await judged(current);
  arrival.source = current;
  if (last.kind === 'unjudged') return refuseWithoutKeys(last.error);
  if (last.kind !== 'refused') return last;
  arrival.cause = last.cause;
  throw last.error;
}

/**
 * Confirms what a provider asks for where the owner has allowed it: then there is nothing left to show.
 * @throws ApiError 503 when it could not be confirmed; the provider asks again
 */
export async function confirmed(providerKeys: ProviderKeys, source: SourceRouting, reply: Reply): Promise<Reply> {
  if (reply.visit === undefined || !source.provided?.confirmsSubscriptions) return reply;
  await providerKeys.visit(reply.visit, source).catch(refuseWithoutKeys);
  const { shown: _done, ...rest } = reply;
  return rest;
}

// The credentials with which a provider is asked may be those of before.
function unjudged(error: unknown): { kind: 'unjudged'; error: KeysAwayError } {
  if (error instanceof KeysAwayError) return { kind: 'unjudged', error };
  throw error;
}

/** Failure policy: without the key nothing is accepted, and the sender comes again. */
function refuseWithoutKeys(error: unknown): never {
  if (error instanceof KeysAwayError) throw unavailable(error.message, KEYS_RETRY_SECONDS);
  throw error;
}
