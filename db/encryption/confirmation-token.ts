// The secret in the link of a confirmation mail: what it confirms, sealed with the service's encryption key, so that nothing is to be
// stored and nobody can make one.
import { z } from 'zod';
import { DecryptionError, type SecretBox } from './secret-box.ts';

// Binds it to its use: no other sealed text opens as one.
const PURPOSE = 'notification-recipient';

const claim = z.object({
  organizationId: z.string(),
  /** Its slug. */
  organization: z.string(),
  address: z.string(),
  /** ms since 1970. */
  expiresAt: z.number(),
});
export type Confirmation = z.output<typeof claim>;

/** Letters, digits, dots, hyphens and underscores. */
export function sealConfirmation(box: SecretBox, confirmation: Confirmation): string {
  return box.encrypt(JSON.stringify(confirmation), PURPOSE);
}

/** Null for a text that this service has not made. */
export function openConfirmation(box: SecretBox, token: string): Confirmation | null {
  try {
    return claim.parse(JSON.parse(box.decrypt(token, PURPOSE)));
  } catch (error) {
    if (error instanceof DecryptionError) return null;
    throw error;
  }
}
