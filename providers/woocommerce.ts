import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (event: string, body: object): Sample => ({
  event,
  headers: { 'X-WC-Webhook-Topic': event, 'X-WC-Webhook-Delivery-ID': '{uuid}' },
  body,
});

export const woocommerce: Provider = {
  name: 'woocommerce',
  title: 'WooCommerce',
  docs: 'https://woocommerce.com/document/webhooks/',
  verification: hmacOf({ encoding: 'base64', header: 'X-WC-Webhook-Signature' }),
  secret: { is: 'the webhook secret' },
  eventType: { header: 'X-WC-Webhook-Topic' },
  eventId: { header: 'X-WC-Webhook-Delivery-ID' },
  dedup: null,
  handshakes: [{ kind: 'form-ping' }],
  instructions:
    'Go to WooCommerce › Settings › Advanced › Webhooks › Add webhook. Enter the ingest URL as the delivery URL, and enter the secret. Hookyard responds to the ping that WooCommerce sends.',
  samples: [
    sample('order.created', { id: 727, status: 'processing', currency: 'EUR', total: '59.90' }),
    sample('product.updated', {
      ...{ id: 794, name: 'T-shirt', sku: 'TEE-M-BLACK', price: '29.95', stock_status: 'instock' },
    }),
  ],
};
