import type { Provider, Sample } from './provider.ts';

// https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event
const sample = (event: string, members: object): Sample => ({
  event,
  body: [
    {
      email: 'emma@example.com',
      timestamp: '{seconds:number}',
      'smtp-id': '<14c5d75ce93.dfd.64b469@ismtpd-555>',
      event,
      category: ['orders'],
      sg_event_id: '{uuid}',
      sg_message_id: '14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0',
      ...members,
    },
  ],
});

export const sendgrid: Provider = {
  name: 'sendgrid',
  title: 'SendGrid',
  docs: 'https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features',
  verification: {
    kind: 'public-key',
    algorithm: 'ecdsa',
    encoding: 'base64',
    header: 'X-Twilio-Email-Event-Webhook-Signature',
    timestampHeader: 'X-Twilio-Email-Event-Webhook-Timestamp',
    signed: ['timestamp', 'body'],
  },
  secret: { is: "the signed event webhook's verification key" },
  eventType: { payload: '0.event' },
  eventId: { payload: '0.sg_event_id' },
  dedup: null,
  instructions:
    'Go to Settings › Mail Settings › Event Webhooks. Enter the ingest URL as the post URL, enable signature verification, and copy the verification key.',
  samples: [
    sample('delivered', { response: '250 OK' }),
    sample('open', { useragent: 'Mozilla/5.0', ip: '192.0.2.1', sg_machine_open: false }),
    sample('bounce', { reason: '550 5.1.1 The address does not exist', status: '5.1.1', type: 'bounce' }),
  ],
};
