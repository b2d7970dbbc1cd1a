import { hmacOf, type Provider, type Sample } from './provider.ts';

const TRANSACTION = {
  id: 'txn_01hv8wptq8987qeep44cyrewp9',
  customer_id: 'ctm_01hv6y1jedq4p1n0yqn5ba3ky4',
  currency_code: 'EUR',
  details: { totals: { subtotal: '5034', tax: '956', total: '5990', grand_total: '5990', currency_code: 'EUR' } },
  items: [{ price: { id: 'pri_01gsz8x8sawmvhz1pv30nge1ke' }, quantity: 1 }],
};
const SUBSCRIPTION = {
  id: 'sub_01hv8x29kz0t586xy6zn1a62ny',
  customer_id: TRANSACTION.customer_id,
  currency_code: 'EUR',
  billing_cycle: { interval: 'month', frequency: 1 },
  items: TRANSACTION.items,
};

// https://developer.paddle.com/webhooks/respond-to-webhooks
const sample = (event: string, data: object): Sample => ({
  event,
  body: { event_id: 'evt_{hex}', event_type: event, occurred_at: '{time}', notification_id: 'ntf_{hex}', data },
});

export const paddle: Provider = {
  name: 'paddle',
  title: 'Paddle Billing',
  docs: 'https://developer.paddle.com/webhooks/signature-verification',
  verification: hmacOf({
    header: 'Paddle-Signature',
    signaturePart: 'h1',
    timestampPart: 'ts',
    partSeparator: ';',
    template: '{timestamp}:{body}',
  }),
  secret: { is: "the notification destination's secret key" },
  eventType: { payload: 'event_type' },
  eventId: { payload: 'event_id' },
  instructions:
    'Go to Developer tools › Notifications › New destination. Enter the ingest URL, then copy the secret key.',
  samples: [
    sample('transaction.paid', { ...TRANSACTION, status: 'paid' }),
    sample('transaction.completed', { ...TRANSACTION, status: 'completed', invoice_number: '123-45678' }),
    sample('subscription.created', { ...SUBSCRIPTION, status: 'active' }),
    sample('subscription.canceled', { ...SUBSCRIPTION, status: 'canceled', canceled_at: '{time}' }),
  ],
};
