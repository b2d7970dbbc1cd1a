import type { Provider } from './provider.ts';

export const sendgrid: Provider = {
  name: 'sendgrid',
  title: 'SendGrid',
  docs: 'https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features',
  verification: {
    kind: 'public-key',
    algorithm: 'ecdsa',
    signatureHeader: 'X-Twilio-Email-Event-Webhook-Signature',
    timestampHeader: 'X-Twilio-Email-Event-Webhook-Timestamp',
    toleranceSeconds: 300,
  },
  secret: { is: 'the verification key of the signed event webhook' },
  eventType: { payload: '0.event' },
  eventId: { payload: '0.sg_event_id' },
  dedup: null,
  handshakes: [],
  instructions:
    'Settings, Mail Settings, Event Webhooks: enter the address of the source as post URL, enable signature verification, and copy the verification key.',
  samples: [
    {
      event: 'delivered',
      headers: { 'Content-Type': 'application/json' },
      body: [
        {
          email: 'emma@example.com',
          timestamp: 1513299569,
          event: 'delivered',
          sg_event_id: '{uuid}',
          sg_message_id: '14c5d75ce93.dfd.64b469',
        },
      ],
    },
  ],
};
