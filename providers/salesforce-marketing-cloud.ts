import type { Provider } from './provider.ts';

export const salesforceMarketingCloud: Provider = {
  name: 'salesforce-marketing-cloud',
  title: 'Salesforce Marketing Cloud (ENS)',
  docs: 'https://developer.salesforce.com/docs/marketing/marketing-cloud/guide/ens-notification-signing.html',
  verification: {
    kind: 'hmac',
    algorithm: 'sha256',
    encoding: 'base64',
    header: 'x-sfmc-ens-signature',
    signed: ['body'],
  },
  secret: { is: 'the signature key of the callback' },
  eventType: { payload: '0.eventCategoryType' },
  eventId: null,
  dedup: null,
  handshakes: [{ kind: 'verification-key' }],
  instructions:
    'Create the source with any secret, then the callback with its address as URL: Marketing Cloud answers with the signature key, which is the secret, and sends a verification key. lastHandshake of the source shows it: send it to /platform/v1/ens-verify.',
  samples: [
    {
      event: 'TransactionalSendEvents.EmailSent',
      headers: { 'Content-Type': 'application/json' },
      body: [
        {
          eventCategoryType: 'TransactionalSendEvents.EmailSent',
          timestampUTC: 1557324270000,
          compositeId: '{uuid}',
          definitionKey: 'order-confirmation',
        },
      ],
    },
  ],
};
