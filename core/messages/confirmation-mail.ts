// The mail that asks the owner of an address whether an organization may send notifications there. It holds nothing that a tenant
// has written: organizations are named by their operator.
// Rules: NOTE-08.
import type { MailText } from './notification-mail.ts';

/** How long its link works. */
export const CONFIRM_WITHIN_MS = 7 * 24 * 3_600_000;

/** @param facts.link the page that asks; following it alone confirms nothing, since mail scanners do that too */
export function renderConfirmation(facts: { organization: string; link: string; expiresAt: Date }): MailText {
  const { organization, link } = facts;
  const until = `${facts.expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const ask = `The organization "${organization}" wants to send notifications about its webhooks to this address.`;
  const yes = 'If you want them, open this page and press the button:';
  const no = `If you do not, do nothing: without your consent you get no notifications. The page works until ${until}.`;
  return {
    subject: `[Hookyard] Do you want notifications of ${organization}?`,
    text: `${[ask, '', yes, link, '', no].join('\n')}\n`,
    html: `<!doctype html>\n<html><body>\n<p>${ask}</p>\n<p>${yes}<br><a href="${link}">${link}</a></p>\n<p>${no}</p>\n</body></html>\n`,
  };
}
