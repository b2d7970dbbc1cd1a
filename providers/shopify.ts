import { hmacOf, type Provider, type Sample } from './provider.ts';

const ORDER = {
  id: 820982911946,
  admin_graphql_api_id: 'gid://shopify/Order/820982911946',
  email: 'emma@example.com',
  created_at: '{time}',
  currency: 'EUR',
  total_price: '59.90',
  line_items: [{ id: 866550311766, sku: 'TEE-M-BLACK', quantity: 2, price: '29.95' }],
};

// https://shopify.dev/docs/api/webhooks
const sample = (event: string, body: object): Sample => ({
  event,
  headers: {
    'X-Shopify-Topic': event,
    'X-Shopify-Webhook-Id': '{uuid}',
    'X-Shopify-Shop-Domain': 'acme.myshopify.com',
    'X-Shopify-API-Version': '2026-01',
    'X-Shopify-Triggered-At': '{time}',
  },
  body,
});

export const shopify: Provider = {
  name: 'shopify',
  title: 'Shopify',
  docs: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
  verification: hmacOf({ encoding: 'base64', header: 'X-Shopify-Hmac-SHA256' }),
  secret: { is: "the app's client secret, or the signing key shown below the shop's webhooks" },
  eventType: { header: 'X-Shopify-Topic' },
  eventId: { header: 'X-Shopify-Webhook-Id' },
  instructions:
    'Go to Settings › Notifications › Webhooks › Create webhook. Enter the ingest URL and select JSON as the format. The signing key is shown below the list of webhooks.',
  samples: [
    sample('orders/create', { ...ORDER, financial_status: 'pending', fulfillment_status: null }),
    sample('orders/paid', { ...ORDER, financial_status: 'paid', fulfillment_status: null }),
    sample('products/update', {
      id: 632910392,
      title: 'T-shirt',
      vendor: 'Acme',
      status: 'active',
      updated_at: '{time}',
      variants: [{ id: 808950810, sku: 'TEE-M-BLACK', price: '29.95', inventory_quantity: 12 }],
    }),
    sample('app/uninstalled', { id: 548380009, name: 'Acme', domain: 'acme.myshopify.com', plan_name: 'basic' }),
  ],
};
