import type { Provider, Sample } from './provider.ts';

const ACCOUNT = 'AC0123456789abcdef0123456789abcdef';

// https://www.twilio.com/docs/messaging/guides/webhook-request
const sample = (event: string, fields: Record<string, string>): Sample => ({
  event,
  headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'I-Twilio-Idempotency-Token': '{uuid}' },
  // The braces of what is replaced are not escaped.
  body: Object.entries(fields)
    .map(([name, value]) => `${name}=${encodeURIComponent(value).replace('%7Bhex%7D', '{hex}')}`)
    .join('&'),
});

export const twilio: Provider = {
  name: 'twilio',
  title: 'Twilio',
  docs: 'https://www.twilio.com/docs/usage/security',
  verification: { kind: 'twilio' },
  secret: { is: "the account's auth token" },
  eventId: { header: 'I-Twilio-Idempotency-Token' },
  answer: { status: 200, body: '<Response/>', contentType: 'text/xml' },
  instructions:
    'Go to Phone Numbers › your number and enter the ingest URL as the webhook URL. Twilio signs the URL, so the URL in Twilio must start with HOOKYARD_PUBLIC_URL. The response is an empty TwiML document unless the source has a custom response (answer).',
  samples: [
    sample('message', {
      ToCountry: 'US',
      SmsMessageSid: 'SM{hex}',
      MessageSid: 'SM{hex}',
      AccountSid: ACCOUNT,
      NumMedia: '0',
      NumSegments: '1',
      Body: 'Hello',
      To: '+18005551212',
      From: '+14158675309',
      ApiVersion: '2010-04-01',
    }),
    sample('message-status', {
      MessageSid: 'SM{hex}',
      MessageStatus: 'delivered',
      SmsSid: 'SM{hex}',
      SmsStatus: 'delivered',
      AccountSid: ACCOUNT,
      To: '+14158675309',
      From: '+18005551212',
      ApiVersion: '2010-04-01',
    }),
    sample('call', {
      CallSid: 'CA{hex}',
      AccountSid: ACCOUNT,
      CallStatus: 'ringing',
      Direction: 'inbound',
      To: '+18005551212',
      From: '+14158675309',
      ApiVersion: '2010-04-01',
    }),
  ],
};
