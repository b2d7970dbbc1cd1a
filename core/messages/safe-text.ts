// Foreign text in messages: names that tenants chose, causes, errors.
import { oneLine } from './notification-mail.ts';
import { type AlertMessage, linesOf, titleOf } from './message.ts';

const MAX_TITLE = 140;
const MAX_VALUE = 500;
/** Lines of a message at most; more are counted. */
const MAX_LINES = 40;
/** Changes of a digest: what every form can show, beside the lines about a channel that fails and the organization. */
export const MAX_DIGEST_CHANGES = MAX_LINES - 5;

/** The title of a message on one line, without anything that programs make a link of. */
export const safeTitle = (message: AlertMessage, length = MAX_TITLE): string => oneLine(titleOf(message), length);

/** The lines under it in the same way. */
export function safeLines(message: AlertMessage, most = MAX_LINES): [string, string][] {
  const lines = linesOf(message).map(([label, value]): [string, string] => [label, oneLine(value, MAX_VALUE)]);
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), ['More', String(lines.length - most + 1)]];
}
