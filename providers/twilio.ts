import type { Provider } from './provider.ts';

export const twilio: Provider = {
  name: 'twilio',
  title: 'Twilio',
  docs: 'https://www.twilio.com/docs/usage/security',
  verification: { kind: 'twilio' },
  secret: { is: 'the auth token of the account' },
  eventType: null,
  eventId: { header: 'I-Twilio-Idempotency-Token' },
  dedup: { header: 'I-Twilio-Idempotency-Token' },
  handshakes: [],
  answer: { status: 200, body: '<Response/>', contentType: 'text/xml' },
  instructions:
    'Phone Numbers, your number: enter the address of the source as webhook. The address is signed, so HOOKYARD_PUBLIC_URL must be what Twilio has. The answer is an empty TwiML document, unless the source has its own.',
  samples: [
    {
      event: 'message',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'I-Twilio-Idempotency-Token': '{uuid}' },
      body: 'ToCountry=US&SmsMessageSid=SM0001&Body=Hello&To=%2B18005551212&From=%2B14158675309',
    },
  ],
};
