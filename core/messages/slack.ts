// A message as Slack's incoming webhooks take it (docs.slack.dev: "Sending messages using incoming webhooks", "Block Kit: blocks",
// "Formatting message text"). Foreign text stands in plain_text only, where no markup has an effect, and `&`, `<` and `>`, which
// begin mentions and links, are escaped everywhere.
import { type AlertMessage, linkOf } from './message.ts';
import { safeLines, safeTitle } from './safe-text.ts';

// Bounds of Block Kit: a header has 150 characters, a section ten fields of 2,000. Escaped, a character has up to five.
const MAX_HEADER = 150;
const MAX_FIELDS = 10;
const MAX_FIELD = 2000;
const MAX_SECTIONS = 5;
const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

const escaped = (text: string): string => text.replace(/[&<>]/g, (character) => ESCAPES[character] ?? character);
const plainText = (text: string) => ({ type: 'plain_text', text, emoji: false });

export function slackBody(message: AlertMessage): object {
  const title = safeTitle(message);
  const lines = safeLines(message, MAX_FIELDS * MAX_SECTIONS);
  const fields = lines.map(([label, value]) => plainText(cutEscaped(`${label}: ${value}`, MAX_FIELD)));
  const sections = Array.from({ length: Math.ceil(fields.length / MAX_FIELDS) }, (_, index) => ({
    type: 'section',
    fields: fields.slice(index * MAX_FIELDS, (index + 1) * MAX_FIELDS),
  }));
  const link = linkOf(message);
  return {
    // Shown in notifications.
    text: escaped(title),
    mrkdwn: false,
    blocks: [
      { type: 'header', text: plainText(cutEscaped(title, MAX_HEADER)) },
      ...sections,
      ...(link === null
        ? []
        : [{ type: 'context', elements: [{ type: 'mrkdwn', text: `<${escaped(link)}|Issue>`, verbatim: true }] }]),
    ],
  };
}

/** The longest beginning whose escaped form fits. */
function cutEscaped(text: string, length: number): string {
  const characters = Array.from(text);
  while (escaped(characters.join('')).length > length) characters.pop();
  return escaped(characters.join(''));
}
