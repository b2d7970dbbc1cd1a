import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (id: number, type: string, code: string): Sample => ({
  event: type,
  body: {
    id,
    scheduled_for: '{time}',
    event: {
      id: '{uuid}',
      resource: 'event',
      type,
      api_version: '2018-03-22',
      created_at: '{time}',
      data: { code },
    },
  },
});

export const coinbaseCommerce: Provider = {
  name: 'coinbase-commerce',
  title: 'Coinbase Commerce',
  docs: 'https://docs.cdp.coinbase.com/commerce/webhooks',
  verification: hmacOf({ header: 'X-CC-Webhook-Signature' }),
  secret: { is: 'the webhook shared secret' },
  eventType: { payload: 'event.type' },
  eventId: { payload: 'event.id' },
  instructions:
    'Go to Settings › Notifications › Webhook subscriptions. Add the ingest URL, then reveal the shared secret.',
  samples: [sample(1, 'charge:confirmed', '66BEOV2A'), sample(2, 'charge:failed', '66BEOV2B')],
};
