// The registry of providers, by name, and the sender of a source.
import { describedScheme } from '../core/verification/config.ts';
import * as all from './all.ts';
import type { Provider, DuplicateKey, Sender } from './provider.ts';

export type { Place, Provider, Sample, Sender } from './provider.ts';

/** In the order of their names. */
export const providers: readonly Provider[] = Object.values<Provider>(all).toSorted((one, other) =>
  one.name < other.name ? -1 : 1,
);

const byName = new Map(providers.map((provider) => [provider.name, provider]));

/** Undefined when this release does not know it. */
export const providerNamed = (name: string): Provider | undefined => byName.get(name);

export const PROVIDER_NAMES = providers.map(({ name }) => name) as [string, ...string[]];

/** What tells a repeat of a webhook; null: nothing. */
export function dedupOf({ dedup, eventId }: Provider): DuplicateKey | null {
  if (dedup !== undefined || eventId === undefined) return dedup ?? null;
  return 'header' in eventId ? eventId : { jsonPath: `$.${eventId.payload}` };
}

/**
 * The sender of a source: its provider, or the one that its `verificationConfig` describes.
 * @returns null when this release does not know its provider
 */
export function senderOf(source: { provider?: string | null; verification: { type: string } }): Sender | null {
  if (source.provider) return providerNamed(source.provider) ?? null;
  const described = describedScheme(source.verification);
  if (described !== null) return { verification: described };
  const named = providerNamed(source.verification.type);
  if (named?.verification.kind !== 'hmac') return null;
  return { ...named, verification: { ...named.verification, joinsRepeats: true } };
}
