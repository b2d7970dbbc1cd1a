import { hmacOf, NO_CONTENT, type Provider } from './provider.ts';

export const airtable: Provider = {
  name: 'airtable',
  title: 'Airtable',
  docs: 'https://airtable.com/developers/web/api/webhooks-overview',
  verification: hmacOf({ key: 'base64', header: 'X-Airtable-Content-MAC', prefix: 'hmac-sha256=' }),
  secret: { is: 'the macSecretBase64 returned when you create the webhook' },
  // It wants 200 or 204, and no body.
  answer: NO_CONTENT,
  instructions:
    "Create the source with any base64 text as the secret. Then use the Airtable API to create a webhook with the ingest URL as the notificationUrl parameter, and set macSecretBase64 from the response as the source's secret. Notifications only identify the base that changed; fetch the changes from Airtable.",
  samples: [
    {
      event: 'notification',
      body: { base: { id: 'appHbNHYlVRbAiEQE' }, webhook: { id: 'ach00000000000000' }, timestamp: '{time}' },
    },
  ],
};
