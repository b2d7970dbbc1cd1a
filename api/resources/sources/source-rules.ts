// Which members of a source go together with how it verifies.
// Rules: PRV-10, PRV-13, PRV-18.
import { providerOf } from '../../../core/verification/provider-config.ts';
import { describedScheme } from '../../../core/verification/described/index.ts';
import { type AnyScheme, isSigned, needsPublishedKeys } from '../../../core/verification/index.ts';
import type { IdempotencyKeyRule, Source } from '../../../db/entities.ts';
import { providerNamed } from '../../../providers/index.ts';
import { invalid } from '../../request/errors.ts';

/** @throws ApiError 400 when repeats are to be known by a signature that requests do not have */
export function requireSignature(
  rule: IdempotencyKeyRule | null | undefined,
  source: Pick<Source, 'provider' | 'verification'>,
): void {
  if (!rule?.signature) return;
  if (source.verification.type === 'none')
    throw invalid('idempotencyKey.signature', 'needs a verificationConfig other than none');
  const scheme = schemeOf(source);
  if (scheme === null || isSigned(scheme)) return;
  const provider = providerOf(source);
  throw invalid(
    'idempotencyKey.signature',
    provider
      ? `needs a provider that signs its webhooks, and ${provider} does not`
      : `needs a verificationConfig with a signature of the body, and ${source.verification.type} has none`,
  );
}

/** Null: a type that has none of a provider's, or a provider that this release does not know. */
function schemeOf(source: Pick<Source, 'provider' | 'verification'>): AnyScheme | null {
  const provider = providerOf(source);
  return provider ? (providerNamed(provider)?.verification ?? null) : describedScheme(source.verification);
}

/**
 * @throws ApiError 400 when anyone who knows the names of a source could give it the secret that only its provider knows: the first
 * that comes is remembered (PRV-13)
 */
export function requireGuarded(
  source: Pick<Source, 'provider' | 'verification' | 'verificationSecret'> & { ingestToken?: string | undefined },
): void {
  const provider = providerOf(source);
  const { verificationSecret, ingestToken } = source;
  if (!provider || verificationSecret || ingestToken === 'required' || providerNamed(provider)?.secret.is !== null)
    return;
  throw invalid(
    'ingestToken',
    `must be required until ${provider} has sent its secret, because the first one that comes is remembered`,
  );
}

/** @throws ApiError 400 when the time that it takes to fetch a key would tell strangers of a source that must look like none */
export function requireUntold(
  source: Pick<Source, 'provider' | 'verification'> & {
    ingestToken?: string | undefined;
    concealed?: boolean | undefined;
  },
): void {
  const scheme = schemeOf(source);
  if (!source.concealed || source.ingestToken === 'required' || !scheme || !needsPublishedKeys(scheme)) return;
  const whose = providerOf(source) ?? 'the sender';
  throw invalid(
    'ingestToken',
    `must be required when the source is concealed, because fetching a key of ${whose} takes a time that tells of it`,
  );
}
