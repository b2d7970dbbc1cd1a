import type { Provider } from './provider.ts';

export const intercom: Provider = {
  name: 'intercom',
  title: 'Intercom',
  docs: 'https://developers.intercom.com/docs/webhooks/setting-up-webhooks',
  verification: {
    kind: 'hmac',
    algorithm: 'sha1',
    encoding: 'hex',
    header: 'X-Hub-Signature',
    prefix: 'sha1=',
    signed: ['body'],
  },
  secret: { is: 'the client secret of the app' },
  eventType: { payload: 'topic' },
  eventId: { payload: 'id' },
  dedup: { jsonPath: '$.id' },
  handshakes: [],
  instructions:
    'Developer Hub, your app, Webhooks: enter the address of the source as endpoint URL, and choose topics.',
  samples: [
    {
      event: 'contact.created',
      headers: { 'Content-Type': 'application/json' },
      body: {
        type: 'notification_event',
        app_id: 'a86dr8yl',
        id: 'notif_{uuid}',
        topic: 'contact.created',
        created_at: 1700000000,
        data: { type: 'notification_event_data', item: { type: 'contact', id: '1' } },
      },
    },
  ],
};
