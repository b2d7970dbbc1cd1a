import type { Provider } from './provider.ts';

export const replicate: Provider = {
  name: 'replicate',
  title: 'Replicate',
  docs: 'https://replicate.com/docs/topics/webhooks/verify-webhook',
  verification: { kind: 'standard', headerPrefix: 'webhook-' },
  secret: { is: 'the signing secret (whsec_...) of the default webhook' },
  eventType: { payload: 'status' },
  eventId: { header: 'webhook-id' },
  dedup: { header: 'webhook-id' },
  instructions:
    'Create a prediction whose webhook is the address of the source. Get the signing secret from the API of Replicate.',
  samples: [
    {
      event: 'succeeded',
      body: { id: 'ufawqhfynnddngldkgtslldrkq', status: 'succeeded', created_at: '{time}', output: null },
    },
    {
      event: 'failed',
      body: { id: 'ufawqhfynnddngldkgtslldrkq', status: 'failed', created_at: '{time}', error: 'out of memory' },
    },
  ],
};
