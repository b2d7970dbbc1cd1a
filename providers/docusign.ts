import { hmacOf } from '../core/verification/template.ts';
import type { Provider } from './provider.ts';

export const docusign: Provider = {
  name: 'docusign',
  title: 'Docusign',
  docs: 'https://developers.docusign.com/docs/platform/webhooks/connect/validate',
  verification: hmacOf({ encoding: 'base64', header: 'X-DocuSign-Signature-1' }),
  secret: { is: 'the Connect key that signs first' },
  eventType: { payload: 'event' },
  instructions:
    'Settings, Connect, Connect Keys: add a secret key. Then add a configuration with the address of the source, and include the HMAC signature.',
  samples: [
    {
      event: 'envelope-completed',
      body: {
        event: 'envelope-completed',
        apiVersion: 'v2.1',
        generatedDateTime: '{time}',
        data: { accountId: '{uuid}', envelopeId: '{uuid}' },
      },
    },
    {
      event: 'envelope-sent',
      body: {
        event: 'envelope-sent',
        apiVersion: 'v2.1',
        generatedDateTime: '{time}',
        data: { accountId: '{uuid}', envelopeId: '{uuid}' },
      },
    },
  ],
};
