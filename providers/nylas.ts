import { hmacOf, type Provider } from './provider.ts';

export const nylas: Provider = {
  name: 'nylas',
  title: 'Nylas',
  docs: 'https://developer.nylas.com/docs/v3/notifications/',
  verification: hmacOf({ header: 'X-Nylas-Signature' }),
  secret: { is: 'the webhook_secret returned when you create the webhook' },
  eventType: { payload: 'type' },
  eventId: { payload: 'id' },
  handshakes: [{ kind: 'echo-query', method: 'GET', parameter: 'challenge' }],
  instructions:
    "Create the source with any secret, then create the webhook with the ingest URL. Hookyard responds to the handshake. Then copy the secret that Nylas shows, and set it as the source's secret.",
  samples: [
    {
      event: 'message.created',
      body: {
        specversion: '1.0',
        type: 'message.created',
        source: '/google/emails/realtime',
        id: '{uuid}',
        time: 1695415185,
        data: { object: { id: 'm1' } },
      },
    },
    {
      event: 'event.created',
      body: {
        specversion: '1.0',
        type: 'event.created',
        source: '/google/events/realtime',
        id: '{uuid}',
        time: '{seconds:number}',
        data: { object: { id: 'e1', calendar_id: 'c1' } },
      },
    },
  ],
};
