import type { Provider } from './provider.ts';

export const openai: Provider = {
  name: 'openai',
  title: 'OpenAI',
  docs: 'https://platform.openai.com/docs/guides/webhooks',
  verification: { kind: 'standard', headerPrefix: 'webhook-' },
  secret: { is: 'the signing secret (whsec_...)' },
  eventType: { payload: 'type' },
  eventId: { header: 'webhook-id' },
  dedup: { header: 'webhook-id' },
  instructions: 'Settings, Webhooks, Create: enter the address of the source, then copy the signing secret.',
  samples: [
    {
      event: 'response.completed',
      body: {
        id: 'evt_{uuid}',
        object: 'event',
        created_at: '{seconds:number}',
        type: 'response.completed',
        data: { id: 'resp_abc123' },
      },
    },
    {
      event: 'batch.completed',
      body: {
        id: 'evt_{uuid}',
        object: 'event',
        created_at: '{seconds:number}',
        type: 'batch.completed',
        data: { id: 'batch_abc123' },
      },
    },
  ],
};
