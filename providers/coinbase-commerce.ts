import { hmacOf } from '../core/verification/template.ts';
import type { Provider } from './provider.ts';

export const coinbaseCommerce: Provider = {
  name: 'coinbase-commerce',
  title: 'Coinbase Commerce',
  docs: 'https://docs.cdp.coinbase.com/commerce/webhooks',
  verification: hmacOf({ header: 'X-CC-Webhook-Signature' }),
  secret: { is: 'the webhook shared secret' },
  eventType: { payload: 'event.type' },
  eventId: { payload: 'event.id' },
  dedup: { jsonPath: '$.event.id' },
  instructions:
    'Settings, Notifications, Webhook subscriptions: add the address of the source, then show the shared secret.',
  samples: [
    {
      event: 'charge:confirmed',
      body: {
        id: 1,
        scheduled_for: '{time}',
        event: {
          id: '{uuid}',
          resource: 'event',
          type: 'charge:confirmed',
          api_version: '2018-03-22',
          created_at: '{time}',
          data: { code: '66BEOV2A' },
        },
      },
    },
    {
      event: 'charge:failed',
      body: {
        id: 2,
        scheduled_for: '{time}',
        event: {
          id: '{uuid}',
          resource: 'event',
          type: 'charge:failed',
          api_version: '2018-03-22',
          created_at: '{time}',
          data: { code: '66BEOV2B' },
        },
      },
    },
  ],
};
