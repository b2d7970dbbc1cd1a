// A message in the form of each service. Foreign text has no effect in any of them.
import type { Change, ChannelConfig } from './channel.ts';
import { type AlertMessage, eventType, type IssueChange, linkOf, safeLines, safeTitle, titleOf } from './message.ts';

// A message as Slack's incoming webhooks take it (docs.slack.dev: "Sending messages using incoming webhooks", "Block
// Kit: blocks", "Formatting message text"). Foreign text stands in plain_text only, where no markup has an effect, and
// `&`, `<` and `>`, which begin mentions and links, are escaped everywhere.

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

function cutEscaped(text: string, length: number): string {
  const characters = Array.from(text);
  while (escaped(characters.join('')).length > length) characters.pop();
  return escaped(characters.join(''));
}

// A message as the workflow "Post to a channel when a webhook request is received" of Microsoft Teams takes it: a
// message with one adaptive card (learn.microsoft.com: "Create incoming webhooks with Workflows for Microsoft Teams";
// adaptivecards.io, version 1.4). Foreign text stands in text runs only: text blocks and facts read Markdown.

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
          ...(link !== null && { actions: [{ type: 'Action.OpenUrl', title: 'View issue', url: link }] }),
        },
      },
    ],
  };
}

// A message as PagerDuty's Events API v2 takes it (developer.pagerduty.com: "Send an alert event"). The issue is the
// incident: its id is the dedup key, so the event that resolves it finds it.

// A trigger of an incident that is open is noted in it.
const ACTIONS = {
  opened: 'trigger',
  exhausted: 'trigger',
  acknowledged: 'acknowledge',
  resolved: 'resolve',
  ignored: 'resolve',
} as const;
type Action = (typeof ACTIONS)[Change];

export const PAGERDUTY_URLS = {
  us: 'https://events.pagerduty.com',
  eu: 'https://events.eu.pagerduty.com',
} as const;

function incidentKey({ content, channel }: AlertMessage): string {
  if (content.kind === 'change') return content.issueChange.issue.id;
  return content.kind === 'failing' || content.kind === 'recovered' ? content.channel.id : `test-${channel.id}`;
}

export function pagerDutyBody(
  message: AlertMessage,
  { routingKey, severity }: ChannelConfig & { type: 'pagerduty' },
  action: Action = actionOf(message),
): object {
  const known = { routing_key: routingKey, event_action: action, dedup_key: incidentKey(message) };
  if (action !== 'trigger') return known;
  const { content, organization } = message;
  const link = linkOf(message);
  return {
    ...known,
    client: 'Hookyard',
    ...(link !== null && { client_url: link, links: [{ href: link, text: 'View issue' }] }),
    payload: {
      summary: safeTitle(message),
      source: `hookyard:${organization.slug}`,
      severity: content.kind === 'test' ? 'info' : severity,
      timestamp: message.at.toISOString(),
      class: content.kind === 'change' ? content.issueChange.issue.kind : content.kind,
      group: organization.slug,
      custom_details: Object.fromEntries(safeLines(message)),
    },
  };
}

function actionOf({ content }: AlertMessage): Action {
  if (content.kind === 'recovered') return 'resolve';
  return content.kind === 'change' ? ACTIONS[content.issueChange.change] : 'trigger';
}

// A message as a signed webhook (Standard Webhooks): our own types. The API's description has the schemas
// (api/openapi/alert-webhooks.ts); texts are as they are, because programs read them.

export function webhookBody(message: AlertMessage): object {
  const { content, at, organization, channel } = message;
  const common = { title: titleOf(message), organization, alertChannel: channel };
  const event = (type: string, data: object) => ({ type, timestamp: at, data: { ...common, ...data } });
  switch (content.kind) {
    case 'change':
      return event(eventType(content.issueChange), shownChange(message, content.issueChange));
    case 'digest':
      return event('digest', { changes: content.changes.map((change) => typedChange(message, change)) });
    case 'failing': {
      const { id, name, type, since, error } = content.channel;
      return event('channel.failing', {
        failingChannel: { id, name, type, failingSince: since, lastError: error },
        changes: content.changes.map((change) => typedChange(message, change)),
      });
    }
    case 'recovered':
      return event('channel.recovered', { recoveredChannel: content.channel });
    case 'test':
      return event('test', {});
  }
}

const typedChange = (message: AlertMessage, change: IssueChange) => ({
  type: eventType(change),
  ...shownChange(message, change),
});

function shownChange({ apiBase }: AlertMessage, { change, issue }: IssueChange) {
  return { change, issue: { ...issue, url: apiBase === '' ? null : `${apiBase}/api/issues/${issue.id}` } };
}
