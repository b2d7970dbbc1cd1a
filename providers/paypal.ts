import type { Provider } from './provider.ts';

export const paypal: Provider = {
  name: 'paypal',
  title: 'PayPal',
  docs: 'https://developer.paypal.com/api/rest/webhooks/rest/',
  verification: { kind: 'paypal' },
  secret: { is: 'the id of the webhook, as PayPal shows it', minLength: 1 },
  eventType: { payload: 'event_type' },
  eventId: { payload: 'id' },
  dedup: { jsonPath: '$.id' },
  handshakes: [],
  instructions:
    'Apps & Credentials, your app, Add Webhook: enter the address of the source, then copy the id of the webhook. Of the body PayPal signs a checksum only (CRC-32), for which others can make another body: give the source an address that nobody can guess (ingestToken), and look payments up at PayPal before you act. The events of the simulator belong to no webhook, and are refused.',
  samples: [
    {
      event: 'PAYMENT.CAPTURE.COMPLETED',
      headers: { 'Content-Type': 'application/json' },
      body: {
        id: 'WH-{uuid}',
        event_version: '1.0',
        create_time: '{time}',
        resource_type: 'capture',
        event_type: 'PAYMENT.CAPTURE.COMPLETED',
        resource: { id: '42311647XV020574X', amount: { currency_code: 'USD', value: '100.00' }, status: 'COMPLETED' },
      },
    },
  ],
};
