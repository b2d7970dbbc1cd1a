import { hmacOf } from '../core/verification/template.ts';
import type { Provider } from './provider.ts';

export const vercel: Provider = {
  name: 'vercel',
  title: 'Vercel',
  docs: 'https://vercel.com/docs/webhooks/webhooks-api',
  verification: hmacOf({ algorithm: 'sha1', header: 'x-vercel-signature' }),
  secret: { is: 'the secret of the webhook' },
  eventType: { payload: 'type' },
  eventId: { payload: 'id' },
  dedup: { jsonPath: '$.id' },
  instructions:
    'Team settings, Webhooks, Create: enter the address of the source, then copy the secret that is shown once.',
  samples: [
    {
      event: 'deployment.created',
      body: {
        id: '{uuid}',
        type: 'deployment.created',
        createdAt: '{milliseconds:number}',
        payload: { deployment: { id: 'dpl_1' } },
        region: null,
      },
    },
    {
      event: 'deployment.succeeded',
      body: {
        id: '{uuid}',
        type: 'deployment.succeeded',
        createdAt: '{milliseconds:number}',
        payload: { deployment: { id: 'dpl_1', url: 'shop-acme.vercel.app' } },
        region: null,
      },
    },
  ],
};
