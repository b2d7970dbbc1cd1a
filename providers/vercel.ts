import type { Provider } from './provider.ts';

export const vercel: Provider = {
  name: 'vercel',
  title: 'Vercel',
  docs: 'https://vercel.com/docs/webhooks/webhooks-api',
  verification: { kind: 'hmac', algorithm: 'sha1', encoding: 'hex', header: 'x-vercel-signature', signed: ['body'] },
  secret: { is: 'the secret of the webhook' },
  eventType: { payload: 'type' },
  eventId: { payload: 'id' },
  dedup: { jsonPath: '$.id' },
  handshakes: [],
  instructions:
    'Team settings, Webhooks, Create: enter the address of the source, then copy the secret that is shown once.',
  samples: [
    {
      event: 'deployment.created',
      headers: { 'Content-Type': 'application/json' },
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
      headers: { 'Content-Type': 'application/json' },
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
