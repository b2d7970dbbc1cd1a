// A message as PagerDuty's Events API v2 takes it (developer.pagerduty.com: "Send an alert event"). The issue is the incident: its id
// is the dedup key, so the event that resolves it finds it.
import type { Change, ChannelConfig } from './channel.ts';
import { type AlertMessage, linkOf } from './message.ts';
import { safeLines, safeTitle } from './safe-text.ts';

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

/** What an incident is known by. */
function incidentKey({ content, channel }: AlertMessage): string {
  if (content.kind === 'change') return content.told.issue.id;
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
    ...(link !== null && { client_url: link, links: [{ href: link, text: 'Issue' }] }),
    payload: {
      summary: safeTitle(message),
      source: `hookyard:${organization.slug}`,
      severity: content.kind === 'test' ? 'info' : severity,
      timestamp: message.at.toISOString(),
      class: content.kind === 'change' ? content.told.issue.kind : content.kind,
      group: organization.slug,
      custom_details: Object.fromEntries(safeLines(message)),
    },
  };
}

function actionOf({ content }: AlertMessage): Action {
  if (content.kind === 'recovered') return 'resolve';
  return content.kind === 'change' ? ACTIONS[content.told.change] : 'trigger';
}
