import type { Provider, Sample } from './provider.ts';

const sample = (status: string, members: object): Sample => ({
  event: status,
  body: { id: 'ufawqhfynnddngldkgtslldrkq', status, created_at: '{time}', ...members },
});

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
  samples: [sample('succeeded', { output: null }), sample('failed', { error: 'out of memory' })],
};
