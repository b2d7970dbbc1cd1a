// Which members of a source go together with how it verifies.
// Rules: PRV-10, PRV-13, PRV-18.
import { providerOf } from '../../core/provider-config.ts';
import { isSigned, needsPublishedKeys } from '../../core/verification/index.ts';
import type { IdempotencyKeyRule, Source } from '../../db/entities.ts';
import { providerNamed } from '../../providers/index.ts';
import { invalid } from '../errors.ts';

/** @throws ApiError 400 when repeats are to be known by a signature that requests do not have */
export function requireSignature(
  rule: IdempotencyKeyRule | null | undefined,
  source: Pick<Source, 'provider' | 'verification'>,
): void {
  if (!rule?.signature) return;
  const provider = providerOf(source);
  if (source.verification.type === 'none')
    throw invalid('idempotencyKey.signature', 'needs a verificationConfig other than none');
  const scheme = provider ? providerNamed(provider)?.verification : undefined;
  if (scheme !== undefined && !isSigned(scheme))
    throw invalid('idempotencyKey.signature', `needs a provider that signs its webhooks, and ${provider} does not`);
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
  const provider = providerOf(source);
  const scheme = provider ? providerNamed(provider)?.verification : undefined;
  if (!source.concealed || source.ingestToken === 'required' || !scheme || !needsPublishedKeys(scheme)) return;
  throw invalid(
    'ingestToken',
    `must be required when the source is concealed, because fetching a key of ${provider} takes a time that tells of it`,
  );
}
