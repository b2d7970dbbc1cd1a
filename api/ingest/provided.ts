// Webhooks and handshakes of a source with a provider, or with a scheme that its owner describes.
// Rules: PRV-05, PRV-08, PRV-11 to PRV-14, PRV-16.
import type { Verification } from '../../core/signatures/index.ts';
import { type Reply, replyTo } from '../../core/verification/handshakes.ts';
import { needsSecret, type ProviderRequest, verifyProvided, withoutSecret } from '../../core/verification/index.ts';
import type { PublishedKeys } from '../../core/verification/published/keys.ts';
import type { Received } from './received.ts';
import type { Provided } from './routing.ts';

export type Outcome =
  | { kind: 'handshake'; reply: Reply; mac: Buffer | null }
  | { kind: 'verified'; verification: Verification };

export interface Judging {
  /** Under which providers know this service. */
  baseUrl: string;
  /** Who is asked for keys that a provider publishes. */
  keys: PublishedKeys;
}

/**
 * @param answersStrangers whether handshakes are answered whose sender proves nothing
 * @throws KeysAwayError
 */
export async function judgeProvided(
  provided: Provided,
  received: Received,
  { baseUrl, keys, answersStrangers }: Judging & { answersStrangers: boolean },
): Promise<Outcome> {
  const { provider, credentials, previous } = provided;
  if (provider === null) return refused('This release does not know the provider of the source');
  const request = requestOf(received, baseUrl);
  const early = replyTo(provider.handshakes, credentials, request, false);
  if (early !== null && (answersStrangers || early.isProven)) return { kind: 'handshake', reply: early, mac: null };
  if (credentials.secret === '' && needsSecret(provider.verification))
    return refused('The provider has not sent its secret to the source yet');
  let used = credentials;
  let verification = await verifyProvided(provider.verification, credentials, request, keys);
  if (!verification.valid && previous !== null && request.nowMs < previous.untilMs) {
    const earlier = await verifyProvided(provider.verification, previous.credentials, request, keys);
    if (earlier.valid) [verification, used] = [earlier, previous.credentials];
  }
  if (!verification.valid) return { kind: 'verified', verification };
  const reply = replyTo(provider.handshakes, used, request, true);
  if (reply !== null) return { kind: 'handshake', reply, mac: verification.mac };
  return { kind: 'verified', verification };
}

const refused = (reason: string): Outcome => ({ kind: 'verified', verification: { valid: false, reason } });

function requestOf(received: Received, baseUrl: string): ProviderRequest {
  const { organizationSlug, sourceSlug, below, method, headerBytes: headers, body, queryText } = received;
  return {
    ...{ method, headers, body },
    nowMs: received.receivedAt.getTime(),
    query: () => received.query(),
    isRepeated: (name) => received.isRepeated(name),
    parsed: (parse) => received.parsed(parse),
    url: () => `${baseUrl}/ingest/${organizationSlug}/${sourceSlug}${below}${queryText && `?${queryText}`}`,
  };
}

/** The headers and the query of a webhook as they are stored: a secret that the provider sends is not among them. */
export function storedParts(provided: Provided | null, { headerBytes: headers, queryText }: Received) {
  const scheme = provided?.provider?.verification;
  return scheme === undefined ? { headers, queryText } : withoutSecret(scheme, { headers, queryText });
}
