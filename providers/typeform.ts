import { hmacOf, type Provider } from './provider.ts';

export const typeform: Provider = {
  name: 'typeform',
  title: 'Typeform',
  docs: 'https://www.typeform.com/developers/webhooks/secure-your-webhooks/',
  verification: hmacOf({ encoding: 'base64', header: 'Typeform-Signature', prefix: 'sha256=' }),
  secret: { is: 'the webhook secret' },
  eventType: { payload: 'event_type' },
  eventId: { payload: 'event_id' },
  instructions:
    'Go to Connect › Webhooks › Add a webhook and enter the ingest URL. Then edit the webhook to enter the secret, and turn the webhook on.',
  samples: [
    {
      event: 'form_response',
      body: {
        event_id: '{uuid}',
        event_type: 'form_response',
        form_response: { form_id: 'lT4Z3j', token: 'a3a12ec67a1365927098a606107fac15', submitted_at: '{time}' },
      },
    },
  ],
};
