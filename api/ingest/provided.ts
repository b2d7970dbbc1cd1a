// Webhooks of a source with a provider, or with a scheme that its owner describes.
// Rules: PRV-05, PRV-08, PRV-16.
import type { Verification } from '../../core/signatures/index.ts';
import {
  type Credentials,
  needsSecret,
  type ProviderRequest,
  verifyProvided,
  withoutSecret,
} from '../../core/verification/index.ts';
import type { PublishedKeys } from '../../core/verification/published/keys.ts';
import type { Received } from './received.ts';
import type { Provided } from './routing.ts';

export interface Judging {
  /** Under which providers know this service. */
  baseUrl: string;
  /** Who is asked for keys that a provider publishes. */
  keys: PublishedKeys;
}

/** With the credentials that a valid signature was made with. */
export interface Outcome {
  verification: Verification;
  used: Credentials;
}

/** @throws KeysAwayError */
export async function verifyByProvider(
  { provider, credentials, previous }: Provided,
  request: ProviderRequest,
  keys: PublishedKeys,
): Promise<Outcome> {
  const refused = (reason: string): Outcome => ({ verification: { valid: false, reason }, used: credentials });
  if (provider === null) return refused('This release does not know the provider of the source');
  if (credentials.secret === '' && needsSecret(provider.verification))
    return refused('The provider has not sent its secret to the source yet');
  const verification = await verifyProvided(provider.verification, credentials, request, keys);
  if (verification.valid || previous === null || request.nowMs >= previous.untilMs)
    return { verification, used: credentials };
  const earlier = await verifyProvided(provider.verification, previous.credentials, request, keys);
  return earlier.valid ? { verification: earlier, used: previous.credentials } : { verification, used: credentials };
}

export function requestOf(received: Received, baseUrl: string): ProviderRequest {
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
