import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (type: string, deployment: object): Sample => ({
  event: type,
  body: { id: '{uuid}', type, createdAt: '{milliseconds:number}', payload: { deployment }, region: null },
});

export const vercel: Provider = {
  name: 'vercel',
  title: 'Vercel',
  docs: 'https://vercel.com/docs/webhooks/webhooks-api',
  verification: hmacOf({ algorithm: 'sha1', header: 'x-vercel-signature' }),
  secret: { is: 'the webhook secret' },
  eventType: { payload: 'type' },
  eventId: { payload: 'id' },
  instructions:
    'Go to Team settings › Webhooks › Create. Enter the ingest URL, then copy the secret, which is shown only once.',
  samples: [
    sample('deployment.created', { id: 'dpl_1' }),
    sample('deployment.succeeded', { id: 'dpl_1', url: 'shop-acme.vercel.app' }),
  ],
};
