import type { Provider } from './provider.ts';

export const standardWebhooks: Provider = {
  name: 'standard-webhooks',
  title: 'Standard Webhooks',
  docs: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
  verification: { kind: 'standard', headerPrefix: 'webhook-' },
  secret: { is: 'the signing secret (whsec_...), or the public key (whpk_...)' },
  eventType: { payload: 'type' },
  eventId: { header: 'webhook-id' },
  instructions:
    'Use this provider for any sender that follows the Standard Webhooks specification, with a shared secret (v1) or a public key (v1a).',
  samples: [
    {
      event: 'order.paid',
      body: { type: 'order.paid', timestamp: '{time}', data: { number: 1042 } },
    },
  ],
};
