import type { Provider, Sample } from './provider.ts';

const sample = (eventCode: string, members: object): Sample => ({
  event: eventCode,
  body: {
    live: 'false',
    notificationItems: [
      {
        NotificationRequestItem: {
          additionalData: {},
          amount: { currency: 'EUR', value: 1130 },
          eventCode,
          eventDate: '{time}',
          merchantAccountCode: 'TestMerchant',
          merchantReference: 'TestPayment-1407325143704',
          paymentMethod: 'visa',
          pspReference: '{uuid}',
          success: 'true',
          ...members,
        },
      },
    ],
  },
});

export const adyen: Provider = {
  name: 'adyen',
  title: 'Adyen (standard webhooks)',
  docs: 'https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures',
  verification: { kind: 'adyen' },
  secret: { is: "the webhook's HMAC key, in hex" },
  eventType: { payload: 'notificationItems.0.NotificationRequestItem.eventCode' },
  eventId: { payload: 'notificationItems.0.NotificationRequestItem.pspReference' },
  // https://docs.adyen.com/development-resources/webhooks/best-practices: repeats have the same eventCode and
  // pspReference, and both are signed.
  dedup: { signature: true },
  answer: { status: 200, body: '[accepted]', contentType: 'text/plain' },
  instructions:
    'Go to Developers › Webhooks › Standard webhook. Enter the ingest URL, select JSON as the method, and generate an HMAC key. Adyen signs only eight values of each item, not the rest of the body.',
  samples: [sample('AUTHORISATION', {}), sample('CAPTURE', { originalReference: '7914073381342284' })],
};
