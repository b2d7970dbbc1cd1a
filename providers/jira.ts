import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (webhookEvent: string, body: object): Sample => ({
  event: webhookEvent,
  headers: { 'X-Atlassian-Webhook-Identifier': '{uuid}' },
  body: { timestamp: '{milliseconds:number}', webhookEvent, issue: { id: '10002', key: 'SHOP-1' }, ...body },
});

export const jira: Provider = {
  name: 'jira',
  title: 'Jira Cloud',
  docs: 'https://developer.atlassian.com/cloud/jira/platform/webhooks/',
  verification: hmacOf({ header: 'X-Hub-Signature', prefix: 'sha256=' }),
  secret: { is: 'the webhook secret' },
  eventType: { payload: 'webhookEvent' },
  eventId: { header: 'X-Atlassian-Webhook-Identifier' },
  instructions: 'Go to Settings › System › WebHooks › Create. Enter the ingest URL and the secret.',
  samples: [
    sample('jira:issue_created', {}),
    sample('jira:issue_updated', {
      issue_event_type_name: 'issue_generic',
      changelog: { id: '10124', items: [{ field: 'status', fromString: 'To Do', toString: 'In Progress' }] },
    }),
  ],
};
