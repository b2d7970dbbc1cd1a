// The link in a mail that stops further ones.
// Rules: NOTE-13.
import type { RecipientRule, StopLink } from '../../core/messages/notify-recipients.ts';
import { sealStop } from '../encryption/confirmation-token.ts';
import type { SecretBox } from '../encryption/secret-box.ts';

interface StopLinkDeps {
  secretBox: SecretBox;
  recipientRule: () => RecipientRule;
}

/** @param publicUrl base of the link; empty when it is not known */
export function createStopLink({ secretBox, recipientRule }: StopLinkDeps, publicUrl: () => string): StopLink {
  return ({ id: organizationId, slug: organization }, address) => {
    const base = publicUrl();
    if (base === '' || recipientRule() !== 'confirmed') return null;
    return `${base}/notifications/stop/${sealStop(secretBox, { organizationId, organization, address: address.toLowerCase() })}`;
  };
}
