import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (type: string, event: object, detail: object): Sample => ({
  event: type,
  body: { type, id: '{uuid}', time: '{time}', subject: 'zen:ticket:5158', event, detail: { id: '5158', ...detail } },
});

export const zendesk: Provider = {
  name: 'zendesk',
  title: 'Zendesk',
  docs: 'https://developer.zendesk.com/documentation/webhooks/verifying/',
  verification: hmacOf({
    encoding: 'base64',
    header: 'X-Zendesk-Webhook-Signature',
    timestampHeader: 'X-Zendesk-Webhook-Signature-Timestamp',
    timestampUnit: 'rfc3339',
    template: '{timestamp}{body}',
  }),
  secret: { is: "the webhook's signing secret" },
  eventType: { payload: 'type' },
  eventId: { payload: 'id' },
  instructions:
    'Go to Admin Center › Apps and integrations › Actions and webhooks › Webhooks, and create a webhook that subscribes to Zendesk events. Enter the ingest URL, and select POST as the method and JSON as the format. Then reveal the signing secret.',
  samples: [
    sample('zen:event-type:ticket.created', {}, {}),
    sample('zen:event-type:ticket.status_changed', { current: 'SOLVED', previous: 'OPEN' }, { status: 'SOLVED' }),
  ],
};
