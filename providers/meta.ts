import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (object: string, entry: object): Sample => ({
  event: object,
  body: { object, entry: [entry] },
});

export const meta: Provider = {
  name: 'meta',
  title: 'Meta (WhatsApp, Instagram, Messenger)',
  docs: 'https://developers.facebook.com/docs/graph-api/webhooks/getting-started',
  verification: hmacOf({ header: 'X-Hub-Signature-256', prefix: 'sha256=' }),
  secret: { is: 'the app secret' },
  verifyToken: "a token that you choose and enter in Meta's app dashboard",
  eventType: { payload: 'object' },
  handshakes: [{ kind: 'hub-challenge' }],
  instructions:
    'Create the source with a verify token that you choose. Then go to App dashboard › Webhooks. Enter the ingest URL as the callback URL, and enter the verify token.',
  samples: [
    sample('whatsapp_business_account', {
      id: '102290129340398',
      changes: [{ field: 'messages', value: { messaging_product: 'whatsapp' } }],
    }),
    sample('page', {
      id: '1755847768034402',
      time: '{milliseconds:number}',
      messaging: [
        {
          sender: { id: '6870001234567890' },
          recipient: { id: '1755847768034402' },
          timestamp: '{milliseconds:number}',
          message: { mid: 'm_{hex}', text: 'Hello' },
        },
      ],
    }),
    sample('instagram', {
      id: '17841405822304914',
      time: '{seconds:number}',
      changes: [{ field: 'comments', value: { id: '17865799348089039', text: 'Where can I buy this?' } }],
    }),
  ],
};
