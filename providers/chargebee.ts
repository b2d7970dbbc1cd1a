import type { Provider, Sample } from './provider.ts';

const sample = (event_type: string, content: object): Sample => ({
  event: event_type,
  body: { id: 'ev_{uuid}', event_type, occurred_at: '{seconds:number}', content },
});

export const chargebee: Provider = {
  name: 'chargebee',
  title: 'Chargebee',
  docs: 'https://www.chargebee.com/docs/billing/2.0/site-configuration/webhook_settings',
  verification: { kind: 'basic' },
  secret: { is: 'user:password, as entered in Chargebee' },
  eventType: { payload: 'event_type' },
  eventId: { payload: 'id' },
  instructions:
    'Go to Settings › Configure Chargebee › Webhooks. Enter the ingest URL and protect it with basic authentication.',
  samples: [
    sample('subscription_created', { subscription: { id: 'sub_1' } }),
    sample('payment_failed', {
      transaction: { id: 'txn_1', status: 'failure' },
      invoice: { id: '1', status: 'payment_due' },
    }),
  ],
};
