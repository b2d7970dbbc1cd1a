import type { Provider } from './provider.ts';

export const clickup: Provider = {
  name: 'clickup',
  title: 'ClickUp',
  docs: 'https://developer.clickup.com/docs/webhooksignature',
  verification: { kind: 'hmac', algorithm: 'sha256', encoding: 'hex', header: 'X-Signature', signed: ['body'] },
  secret: { is: 'webhook.secret of the answer that created the webhook' },
  eventType: { payload: 'event' },
  eventId: null,
  dedup: null,
  handshakes: [],
  instructions:
    'Create the webhook with the API of ClickUp: endpoint is the address of the source. Enter the secret that ClickUp answers.',
  samples: [
    {
      event: 'taskCreated',
      headers: { 'Content-Type': 'application/json' },
      body: { webhook_id: '7689a169-a000-4985-8676-6902b96d6627', event: 'taskCreated', task_id: 'c0j' },
    },
  ],
};
