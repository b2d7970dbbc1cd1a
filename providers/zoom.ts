import type { Provider } from './provider.ts';

export const zoom: Provider = {
  name: 'zoom',
  title: 'Zoom',
  docs: 'https://developers.zoom.us/docs/api/webhooks/',
  verification: {
    kind: 'hmac',
    algorithm: 'sha256',
    encoding: 'hex',
    header: 'x-zm-signature',
    prefix: 'v0=',
    timestamp: { header: 'x-zm-request-timestamp', unit: 's', toleranceSeconds: 300 },
    signed: [{ text: 'v0:' }, 'timestamp', { text: ':' }, 'body'],
  },
  secret: { is: 'the secret token of the app' },
  eventType: { payload: 'event' },
  eventId: null,
  dedup: null,
  handshakes: [{ kind: 'plain-token' }],
  instructions:
    'App Marketplace, your app, Access, Event Subscriptions: enter the address of the source as notification endpoint, then validate it.',
  samples: [
    {
      event: 'meeting.started',
      headers: { 'Content-Type': 'application/json' },
      body: {
        event: 'meeting.started',
        event_ts: '{milliseconds:number}',
        payload: { account_id: 'AAAAAABBBB', object: { id: '1234567890', topic: 'My Meeting' } },
      },
    },
    {
      event: 'meeting.ended',
      headers: { 'Content-Type': 'application/json' },
      body: {
        event: 'meeting.ended',
        event_ts: '{milliseconds:number}',
        payload: { account_id: 'AAAAAABBBB', object: { id: '1234567890', topic: 'My Meeting', duration: 30 } },
      },
    },
  ],
};
