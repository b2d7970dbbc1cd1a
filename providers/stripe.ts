import { hmacOf, type Provider, type Sample } from './provider.ts';

const CUSTOMER = 'cus_NffrFeUfNV2Hib';
const PAYMENT = {
  id: 'pi_3MtwBwLkdIwHu7ix28a3tqPa',
  object: 'payment_intent',
  amount: 5990,
  currency: 'eur',
  customer: CUSTOMER,
  status: 'succeeded',
};
const SUBSCRIPTION = {
  id: 'sub_1MowQVLkdIwHu7ixeRlqHVzs',
  object: 'subscription',
  customer: CUSTOMER,
  status: 'active',
  cancel_at_period_end: false,
  items: { object: 'list', data: [{ id: 'si_Na6dzxczY5fwHx', price: { id: 'price_1MowQULkdIwHu7ixraBm864M' } }] },
};
const INVOICE = {
  id: 'in_1MtHbELkdIwHu7ixl4OzzPMv',
  object: 'invoice',
  amount_due: 5990,
  currency: 'eur',
  customer: CUSTOMER,
  subscription: SUBSCRIPTION.id,
};

// https://docs.stripe.com/api/events/object
const sample = (event: string, object: object): Sample => ({
  event,
  body: {
    id: 'evt_{hex}',
    object: 'event',
    api_version: '2024-06-20',
    created: '{seconds:number}',
    data: { object: { ...object, created: '{seconds:number}', livemode: false } },
    livemode: false,
    pending_webhooks: 1,
    request: { id: 'req_QyDCzn33ls4m2t', idempotency_key: '{uuid}' },
    type: event,
  },
});

export const stripe: Provider = {
  name: 'stripe',
  title: 'Stripe',
  docs: 'https://docs.stripe.com/webhooks/signature',
  verification: hmacOf({
    header: 'Stripe-Signature',
    signaturePart: 'v1',
    timestampPart: 't',
    template: '{timestamp}.{body}',
  }),
  secret: { is: "the endpoint's signing secret (whsec_...)" },
  eventType: { payload: 'type' },
  eventId: { payload: 'id' },
  instructions:
    'Go to Workbench › Webhooks and add a destination of the type Webhook endpoint. Enter the ingest URL, then reveal the signing secret.',
  samples: [
    sample('payment_intent.succeeded', PAYMENT),
    sample('payment_intent.payment_failed', {
      ...PAYMENT,
      status: 'requires_payment_method',
      last_payment_error: { type: 'card_error', code: 'card_declined', decline_code: 'insufficient_funds' },
    }),
    sample('charge.refunded', {
      ...{ id: 'ch_3MtwBwLkdIwHu7ix0snN0B15', object: 'charge', amount: 5990, amount_refunded: 5990, currency: 'eur' },
      ...{ payment_intent: PAYMENT.id, refunded: true, status: 'succeeded' },
    }),
    sample('checkout.session.completed', {
      ...{ id: 'cs_test_a11YYufWQzNY63zpQ6QSNRQhkUpVph4W', object: 'checkout.session', mode: 'payment' },
      ...{
        amount_total: 5990,
        currency: 'eur',
        payment_intent: PAYMENT.id,
        payment_status: 'paid',
        status: 'complete',
      },
      customer_details: { email: 'emma@example.com', name: 'Emma' },
    }),
    sample('customer.created', { id: CUSTOMER, object: 'customer', email: 'emma@example.com', name: 'Emma' }),
    sample('customer.subscription.updated', SUBSCRIPTION),
    sample('customer.subscription.deleted', { ...SUBSCRIPTION, status: 'canceled', canceled_at: '{seconds:number}' }),
    sample('invoice.paid', { ...INVOICE, amount_paid: 5990, amount_remaining: 0, status: 'paid' }),
    sample('invoice.payment_failed', { ...INVOICE, amount_paid: 0, amount_remaining: 5990, status: 'open' }),
  ],
};
