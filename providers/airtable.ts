import { hmacOf } from '../core/verification/header-signature.ts';
import { NO_CONTENT, type Provider } from './provider.ts';

export const airtable: Provider = {
  name: 'airtable',
  title: 'Airtable',
  docs: 'https://airtable.com/developers/web/api/webhooks-overview',
  verification: hmacOf({ key: 'base64', header: 'X-Airtable-Content-MAC', prefix: 'hmac-sha256=' }),
  secret: { is: 'macSecretBase64 from the response that created the webhook' },
  // It wants 200 or 204, and no body.
  answer: NO_CONTENT,
  instructions:
    'Create the webhook with the Airtable API, with the ingest URL as notificationUrl. Then set the macSecretBase64 from the response as the secret. A notification contains only the base; fetch the changes from Airtable.',
  samples: [
    {
      event: 'notification',
      body: { base: { id: 'appHbNHYlVRbAiEQE' }, webhook: { id: 'ach00000000000000' }, timestamp: '{time}' },
    },
  ],
};
