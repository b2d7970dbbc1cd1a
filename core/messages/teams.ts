// A message as the workflow "Post to a channel when a webhook request is received" of Microsoft Teams takes it: a message with one
// adaptive card (learn.microsoft.com: "Create incoming webhooks with Workflows for Microsoft Teams"; adaptivecards.io, version 1.4).
// Foreign text stands in text runs only: text blocks and facts read Markdown.
import { type AlertMessage, linkOf } from './message.ts';
import { safeLines, safeTitle } from './safe-text.ts';

const run = (text: string, style: object = {}) => ({ type: 'TextRun', text, ...style });
const block = (...inlines: object[]) => ({ type: 'RichTextBlock', inlines });

export function teamsBody(message: AlertMessage): object {
  const link = linkOf(message);
  const lines = safeLines(message).map(([label, value]) => block(run(`${label}: `, { weight: 'Bolder' }), run(value)));
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [block(run(safeTitle(message), { weight: 'Bolder', size: 'Medium' })), ...lines],
          ...(link !== null && { actions: [{ type: 'Action.OpenUrl', title: 'Issue', url: link }] }),
        },
      },
    ],
  };
}
