import { hmacOf } from '../core/verification/header-signature.ts';
import type { Provider, Sample } from './provider.ts';

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
    timestamp: { header: 'X-Zendesk-Webhook-Signature-Timestamp', unit: 'rfc3339', toleranceSeconds: 300 },
    template: '{timestamp}{body}',
  }),
  secret: { is: 'the signing secret of the webhook' },
  eventType: { payload: 'type' },
  eventId: { payload: 'id' },
  dedup: { jsonPath: '$.id' },
  instructions:
    'Admin Center › Apps and integrations › Webhooks › Create: enter the ingest URL, the method POST and the format JSON. Then reveal the signing secret.',
  samples: [
    sample('zen:event-type:ticket.created', {}, {}),
    sample('zen:event-type:ticket.status_changed', { current: 'SOLVED', previous: 'OPEN' }, { status: 'SOLVED' }),
  ],
};
