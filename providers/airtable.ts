import { hmacOf } from '../core/verification/template.ts';
import { NO_CONTENT, type Provider } from './provider.ts';

export const airtable: Provider = {
  name: 'airtable',
  title: 'Airtable',
  docs: 'https://airtable.com/developers/web/api/webhooks-overview',
  verification: hmacOf({ key: 'base64', header: 'X-Airtable-Content-MAC', prefix: 'hmac-sha256=' }),
  secret: { is: 'macSecretBase64 of the answer that created the webhook' },
  // It wants 200 or 204, and no body.
  answer: NO_CONTENT,
  instructions:
    'Create the webhook with the API of Airtable: notificationUrl is the address of the source. Enter the macSecretBase64 that Airtable answers. A notification names the base only; fetch the changes from Airtable.',
  samples: [
    {
      event: 'notification',
      body: { base: { id: 'appHbNHYlVRbAiEQE' }, webhook: { id: 'ach00000000000000' }, timestamp: '{time}' },
    },
  ],
};
