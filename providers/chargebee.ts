import type { Provider } from './provider.ts';

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
    {
      event: 'subscription_created',
      body: {
        id: 'ev_{uuid}',
        event_type: 'subscription_created',
        occurred_at: '{seconds:number}',
        content: { subscription: { id: 'sub_1' } },
      },
    },
    {
      event: 'payment_failed',
      body: {
        id: 'ev_{uuid}',
        event_type: 'payment_failed',
        occurred_at: '{seconds:number}',
        content: { transaction: { id: 'txn_1', status: 'failure' }, invoice: { id: '1', status: 'payment_due' } },
      },
    },
  ],
};
