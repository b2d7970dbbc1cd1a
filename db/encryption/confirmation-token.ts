// The secret in a link of a mail: what it confirms, or stops, sealed with the service's encryption key, so that nothing is to be stored
// and nobody can make one.
import { z } from 'zod';
import { DecryptionError, type SecretBox } from './secret-box.ts';

// Each binds it to its use: no other sealed text opens as one.
const TO_CONFIRM = 'notification-recipient';
const TO_STOP = 'notification-stop';

const recipient = z.object({
  organizationId: z.string(),
  /** Its slug. */
  organization: z.string(),
  address: z.string(),
});
const confirmation = recipient.extend({
  /** ms since 1970. */
  expiresAt: z.number(),
});
export type Confirmation = z.output<typeof confirmation>;
/** A link that stops mails works for ever. */
export type Stop = z.output<typeof recipient>;

/** Letters, digits, dots, hyphens and underscores. */
export const sealConfirmation = (box: SecretBox, given: Confirmation): string =>
  box.encrypt(JSON.stringify(given), TO_CONFIRM);

export const sealStop = (box: SecretBox, given: Stop): string => box.encrypt(JSON.stringify(given), TO_STOP);

/** Null for a text that this service has not made. */
export const openConfirmation = (box: SecretBox, token: string): Confirmation | null =>
  open(box, token, TO_CONFIRM, confirmation);

/** Null for a text that this service has not made. */
export const openStop = (box: SecretBox, token: string): Stop | null => open(box, token, TO_STOP, recipient);

function open<Schema extends z.ZodType>(
  box: SecretBox,
  token: string,
  purpose: string,
  schema: Schema,
): z.output<Schema> | null {
  try {
    return schema.parse(JSON.parse(box.decrypt(token, purpose)));
  } catch (error) {
    if (error instanceof DecryptionError) return null;
    throw error;
  }
}
