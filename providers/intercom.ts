import { hmacOf } from '../core/verification/template.ts';
import type { Provider } from './provider.ts';

export const intercom: Provider = {
  name: 'intercom',
  title: 'Intercom',
  docs: 'https://developers.intercom.com/docs/webhooks/setting-up-webhooks',
  verification: hmacOf({ algorithm: 'sha1', header: 'X-Hub-Signature', prefix: 'sha1=' }),
  secret: { is: 'the client secret of the app' },
  eventType: { payload: 'topic' },
  eventId: { payload: 'id' },
  dedup: { jsonPath: '$.id' },
  // By HEAD it finds out whether the address is right.
  handshakes: [{ kind: 'head' }],
  instructions:
    'Developer Hub, your app, Webhooks: enter the address of the source as endpoint URL, whose HEAD request is answered, and choose topics.',
  samples: [
    {
      event: 'contact.created',
      body: {
        type: 'notification_event',
        app_id: 'a86dr8yl',
        id: 'notif_{uuid}',
        topic: 'contact.created',
        created_at: '{seconds:number}',
        data: { type: 'notification_event_data', item: { type: 'contact', id: '1' } },
      },
    },
    {
      event: 'conversation.user.created',
      body: {
        type: 'notification_event',
        app_id: 'a86dr8yl',
        id: 'notif_{uuid}',
        topic: 'conversation.user.created',
        created_at: '{seconds:number}',
        data: { type: 'notification_event_data', item: { type: 'conversation', id: '1911149811', state: 'open' } },
      },
    },
  ],
};
