import type { Provider } from './provider.ts';

export const shopify: Provider = {
  name: 'shopify',
  title: 'Shopify',
  docs: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
  verification: {
    kind: 'hmac',
    algorithm: 'sha256',
    encoding: 'base64',
    header: 'X-Shopify-Hmac-SHA256',
    signed: ['body'],
  },
  secret: { is: 'the client secret of the app, or the key under the webhooks of the shop' },
  eventType: { header: 'X-Shopify-Topic' },
  eventId: { header: 'X-Shopify-Webhook-Id' },
  dedup: { header: 'X-Shopify-Webhook-Id' },
  handshakes: [],
  instructions:
    'Settings, Notifications, Webhooks, Create webhook: enter the address of the source, format JSON. The signing key stands below the list.',
  samples: [
    {
      event: 'orders/create',
      headers: {
        'Content-Type': 'application/json',
        'X-Shopify-Topic': 'orders/create',
        'X-Shopify-Webhook-Id': '{uuid}',
        'X-Shopify-Shop-Domain': 'acme.myshopify.com',
      },
      body: {
        id: 820982911946,
        email: 'emma@example.com',
        created_at: '{time}',
        total_price: '59.90',
        currency: 'EUR',
      },
    },
  ],
};
