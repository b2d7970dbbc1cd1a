import type { Provider } from './provider.ts';

export const stripe: Provider = {
  name: 'stripe',
  title: 'Stripe',
  docs: 'https://docs.stripe.com/webhooks/signature',
  verification: {
    kind: 'hmac',
    algorithm: 'sha256',
    encoding: 'hex',
    header: 'Stripe-Signature',
    named: { separator: ',', signature: 'v1', timestamp: 't' },
    timestamp: { unit: 's', toleranceSeconds: 300 },
    signed: ['timestamp', { text: '.' }, 'body'],
  },
  secret: { is: 'the signing secret of the endpoint (whsec_...)' },
  eventType: { payload: 'type' },
  eventId: { payload: 'id' },
  dedup: { jsonPath: '$.id' },
  handshakes: [],
  instructions: 'Developers, Webhooks, Add endpoint: enter the address of the source, then reveal the signing secret.',
  samples: [
    {
      event: 'payment_intent.succeeded',
      headers: { 'Content-Type': 'application/json' },
      body: {
        id: 'evt_{uuid}',
        object: 'event',
        type: 'payment_intent.succeeded',
        created: 1700000000,
        data: { object: { id: 'pi_3MtwBwLkdIwHu7ix28a3tqPa', amount: 5990, currency: 'eur' } },
      },
    },
  ],
};
