import { hmacOf } from '../core/verification/template.ts';
import type { Provider } from './provider.ts';

export const clickup: Provider = {
  name: 'clickup',
  title: 'ClickUp',
  docs: 'https://developer.clickup.com/docs/webhooksignature',
  verification: hmacOf({ header: 'X-Signature' }),
  secret: { is: 'webhook.secret of the answer that created the webhook' },
  eventType: { payload: 'event' },
  instructions:
    'Create the source with any secret, then the webhook with the API of ClickUp: endpoint is the address of the source. Set the secret that ClickUp answers at once: ClickUp suspends a webhook that is answered 401, until its status is set to active again.',
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
