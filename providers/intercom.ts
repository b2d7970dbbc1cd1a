import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (topic: string, item: object): Sample => ({
  event: topic,
  body: {
    type: 'notification_event',
    app_id: 'a86dr8yl',
    id: 'notif_{uuid}',
    topic,
    created_at: '{seconds:number}',
    data: { type: 'notification_event_data', item },
  },
});

export const intercom: Provider = {
  name: 'intercom',
  title: 'Intercom',
  docs: 'https://developers.intercom.com/docs/webhooks/setting-up-webhooks',
  verification: hmacOf({ algorithm: 'sha1', header: 'X-Hub-Signature', prefix: 'sha1=' }),
  secret: { is: "the app's client secret" },
  eventType: { payload: 'topic' },
  eventId: { payload: 'id' },
  // By HEAD it finds out whether the address is right.
  handshakes: [{ kind: 'head' }],
  instructions:
    'Go to Developer Hub › your app › Webhooks. Enter the ingest URL as the endpoint URL, and choose topics. Hookyard responds to the HEAD request that Intercom sends.',
  samples: [
    sample('contact.created', { type: 'contact', id: '1' }),
    sample('conversation.user.created', { type: 'conversation', id: '1911149811', state: 'open' }),
  ],
};
