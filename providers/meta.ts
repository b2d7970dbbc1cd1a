import type { Provider } from './provider.ts';

export const meta: Provider = {
  name: 'meta',
  title: 'Meta (WhatsApp, Instagram, Messenger)',
  docs: 'https://developers.facebook.com/docs/graph-api/webhooks/getting-started',
  verification: {
    kind: 'hmac',
    algorithm: 'sha256',
    encoding: 'hex',
    header: 'X-Hub-Signature-256',
    prefix: 'sha256=',
    signed: ['body'],
  },
  secret: { is: 'the app secret' },
  verifyToken: 'a verify token of your own, entered at Meta',
  eventType: { payload: 'object' },
  eventId: null,
  dedup: null,
  handshakes: [{ kind: 'hub-challenge' }],
  instructions:
    'App dashboard, Webhooks: create the source with a verify token of your own, then enter its address as callback URL, and the verify token.',
  samples: [
    {
      event: 'whatsapp_business_account',
      headers: { 'Content-Type': 'application/json' },
      body: {
        object: 'whatsapp_business_account',
        entry: [{ id: '102290129340398', changes: [{ field: 'messages', value: { messaging_product: 'whatsapp' } }] }],
      },
    },
  ],
};
