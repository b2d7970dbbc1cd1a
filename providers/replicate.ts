import type { Provider } from './provider.ts';

export const replicate: Provider = {
  name: 'replicate',
  title: 'Replicate',
  docs: 'https://replicate.com/docs/topics/webhooks/verify-webhook',
  verification: { kind: 'standard', headerPrefix: 'webhook-' },
  secret: { is: "the default webhook's signing secret (whsec_...)" },
  eventType: { payload: 'status' },
  eventId: { header: 'webhook-id' },
  instructions:
    'Create a prediction with the ingest URL as the webhook parameter. Get the signing secret from the Replicate API.',
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
