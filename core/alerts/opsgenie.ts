// A message as Opsgenie's Alert API takes it (docs.opsgenie.com: "Alert API"). The id of the issue is the alias of the alert, by
// which it is acknowledged and closed.
import type { ChannelConfig } from './channel.ts';
import { type AlertMessage, linkOf } from './message.ts';
import { incidentKey } from './pagerduty.ts';
import { safeLines, safeTitle } from './safe-text.ts';

// Of "Create alert".
const MAX_MESSAGE = 130;
// A description has 15,000 characters.
const MAX_LINES = 25;

export const OPSGENIE_URLS = { us: 'https://api.opsgenie.com', eu: 'https://api.eu.opsgenie.com' } as const;

/** A path below the address of the API, and the body that is posted there. */
export interface OpsgenieRequest {
  path: string;
  body: object;
}

export function opsgenieRequest(
  message: AlertMessage,
  { priority }: ChannelConfig & { type: 'opsgenie' },
  isEnd = endsAlert(message),
): OpsgenieRequest {
  const alias = incidentKey(message);
  const { content, organization } = message;
  const source = `hookyard:${organization.slug}`;
  const action = (name: 'acknowledge' | 'close') => ({
    path: `/v2/alerts/${encodeURIComponent(alias)}/${name}?identifierType=alias`,
    body: { source, note: safeTitle(message) },
  });
  if (isEnd) return action('close');
  if (content.kind === 'change' && content.told.change === 'acknowledged') return action('acknowledge');
  const link = linkOf(message);
  const lines = safeLines(message, MAX_LINES);
  return {
    path: '/v2/alerts',
    body: {
      message: safeTitle(message, MAX_MESSAGE),
      alias,
      description: [...lines.map(([label, value]) => `${label}: ${value}`), link ?? ''].join('\n').trim(),
      source,
      entity: content.kind === 'change' ? (content.told.issue.route?.id ?? content.told.issue.id) : alias,
      tags: ['hookyard', content.kind === 'change' ? content.told.issue.kind : content.kind],
      details: Object.fromEntries(lines),
      priority: content.kind === 'test' ? 'P5' : priority,
    },
  };
}

const endsAlert = ({ content }: AlertMessage): boolean =>
  content.kind === 'recovered' ||
  (content.kind === 'change' && (content.told.change === 'resolved' || content.told.change === 'ignored'));
