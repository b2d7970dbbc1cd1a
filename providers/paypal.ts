import type { Provider, Sample } from './provider.ts';

const CAPTURE = { id: '42311647XV020574X', amount: { currency_code: 'EUR', value: '59.90' } };

// https://developer.paypal.com/api/rest/webhooks/event-names/
const sample = (event: string, type: string, resource: object): Sample => ({
  event,
  body: {
    id: 'WH-{uuid}',
    event_version: '1.0',
    create_time: '{time}',
    resource_type: type,
    resource_version: '2.0',
    event_type: event,
    resource,
  },
});

export const paypal: Provider = {
  name: 'paypal',
  title: 'PayPal',
  docs: 'https://developer.paypal.com/api/rest/webhooks/rest/',
  verification: { kind: 'paypal' },
  secret: { is: 'the webhook ID, as shown by PayPal', shortest: 1 },
  eventType: { payload: 'event_type' },
  eventId: { payload: 'id' },
  instructions:
    'Go to Apps & Credentials › your app › Add Webhook. Enter the ingest URL, then copy the webhook ID. PayPal signs only a checksum of the body (CRC-32), and an attacker can create a different body with the same checksum: use an ingest URL that cannot be guessed (ingestToken), and check payments with PayPal before you act on them. Simulator events do not belong to a webhook and are refused.',
  samples: [
    sample('PAYMENT.CAPTURE.COMPLETED', 'capture', { ...CAPTURE, status: 'COMPLETED', final_capture: true }),
    sample('PAYMENT.CAPTURE.REFUNDED', 'refund', { ...CAPTURE, id: '1JU08902781691411', status: 'COMPLETED' }),
    sample('BILLING.SUBSCRIPTION.ACTIVATED', 'subscription', {
      id: 'I-BW452GLLEP1G',
      plan_id: 'P-5ML4271244454362WXNWU5NQ',
      status: 'ACTIVE',
      subscriber: { email_address: 'emma@example.com' },
    }),
  ],
};
