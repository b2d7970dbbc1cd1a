// The `verificationConfig` of a source with a provider (providers/). Its secrets are sealed together, as JSON.
// Rules: PRV-02 to PRV-04.
import { z } from 'zod';
import type { Credentials } from './index.ts';

/** The type of such a `verificationConfig`, which the owner may leave out. */
export const PROVIDER_TYPE = 'provider';

const sealedSchema = z.object({ secret: z.string(), verifyToken: z.string().optional() });

/** As it is encrypted. */
export function sealedCredentials({ secret, verifyToken }: Credentials): string {
  return JSON.stringify({ secret, ...(verifyToken !== undefined && { verifyToken }) });
}

/**
 * @param text in clear; null: the provider has not given its secret yet
 * @throws when it is something else; the message has nothing of the text
 */
export function openCredentials(text: string | null): Credentials {
  if (text === null) return { secret: '' };
  const parsed = sealedSchema.safeParse(jsonOf(text));
  if (!parsed.success) throw new Error('What is stored is not the secrets of a provider');
  return parsed.data;
}

// The error of JSON.parse has the first characters of the secret.
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The provider of a source; null without one. */
export const providerOf = (source: { provider?: string | null }): string | null => source.provider ?? null;
