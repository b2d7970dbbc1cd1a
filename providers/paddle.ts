import type { Provider } from './provider.ts';

export const paddle: Provider = {
  name: 'paddle',
  title: 'Paddle Billing',
  docs: 'https://developer.paddle.com/webhooks/signature-verification',
  verification: {
    kind: 'hmac',
    algorithm: 'sha256',
    encoding: 'hex',
    header: 'Paddle-Signature',
    named: { separator: ';', signature: 'h1', timestamp: 'ts' },
    timestamp: { unit: 's', toleranceSeconds: 300 },
    signed: ['timestamp', { text: ':' }, 'body'],
  },
  secret: { is: 'the secret key of the notification destination' },
  eventType: { payload: 'event_type' },
  eventId: { payload: 'event_id' },
  dedup: { jsonPath: '$.event_id' },
  handshakes: [],
  instructions:
    'Developer tools, Notifications, New destination: enter the address of the source, then copy the secret key.',
  samples: [
    {
      event: 'transaction.paid',
      headers: { 'Content-Type': 'application/json' },
      body: {
        event_id: 'evt_{uuid}',
        event_type: 'transaction.paid',
        occurred_at: '{time}',
        notification_id: 'ntf_1',
        data: { id: 'txn_1', status: 'paid' },
      },
    },
  ],
};
