import { hmacOf } from '../core/verification/header-signature.ts';
import type { Provider } from './provider.ts';

export const clickup: Provider = {
  name: 'clickup',
  title: 'ClickUp',
  docs: 'https://developer.clickup.com/docs/webhooksignature',
  verification: hmacOf({ header: 'X-Signature' }),
  secret: { is: 'webhook.secret from the response that created the webhook' },
  eventType: { payload: 'event' },
  instructions:
    'Create the source with any secret. Then create the webhook with the ClickUp API, with the ingest URL as endpoint, and immediately set the secret from the response: ClickUp suspends a webhook that gets 401, until its status is set to active again.',
  samples: [
    {
      event: 'taskCreated',
      body: { webhook_id: '7689a169-a000-4985-8676-6902b96d6627', event: 'taskCreated', task_id: 'c0j' },
    },
    {
      event: 'taskStatusUpdated',
      body: {
        webhook_id: '7689a169-a000-4985-8676-6902b96d6627',
        event: 'taskStatusUpdated',
        task_id: 'c0j',
        history_items: [{ id: '2800787326392370170', field: 'status', before: { status: 'open' } }],
      },
    },
  ],
};
