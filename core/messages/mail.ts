// A message as a mail.
import { type MailText, writeMail } from './notification-mail.ts';
import { type AlertMessage, linkOf } from './message.ts';
import { safeLines, safeTitle } from './safe-text.ts';

export function alertMail(message: AlertMessage): MailText {
  const title = safeTitle(message);
  const link = linkOf(message);
  return writeMail(`[Hookyard] ${title}`, `${title}.`, safeLines(message), link === null ? [] : [['Issue', link]]);
}
