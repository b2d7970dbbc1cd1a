import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (event: string): Sample => ({
  event,
  body: {
    event,
    apiVersion: 'v2.1',
    generatedDateTime: '{time}',
    data: { accountId: '{uuid}', envelopeId: '{uuid}' },
  },
});

export const docusign: Provider = {
  name: 'docusign',
  title: 'Docusign',
  docs: 'https://developers.docusign.com/docs/platform/webhooks/connect/validate',
  verification: hmacOf({ encoding: 'base64', header: 'X-DocuSign-Signature-1' }),
  secret: { is: 'the first Connect key' },
  eventType: { payload: 'event' },
  instructions:
    'Go to Admin › Connect › Connect Keys and add a secret key. Then add a configuration with the ingest URL, and include the HMAC signature.',
  samples: [sample('envelope-completed'), sample('envelope-sent')],
};
