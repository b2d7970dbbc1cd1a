import type { Provider, Sample } from './provider.ts';

const sample = (type: string, id: string): Sample => ({
  event: type,
  body: { id: 'evt_{uuid}', object: 'event', created_at: '{seconds:number}', type, data: { id } },
});

export const openai: Provider = {
  name: 'openai',
  title: 'OpenAI',
  docs: 'https://platform.openai.com/docs/guides/webhooks',
  verification: { kind: 'standard', headerPrefix: 'webhook-' },
  secret: { is: 'the signing secret (whsec_...)' },
  eventType: { payload: 'type' },
  eventId: { header: 'webhook-id' },
  instructions: 'Go to Settings › Webhooks › Create. Enter the ingest URL, then copy the signing secret.',
  samples: [sample('response.completed', 'resp_abc123'), sample('batch.completed', 'batch_abc123')],
};
