import type { Provider } from './provider.ts';

export const slack: Provider = {
  name: 'slack',
  title: 'Slack',
  docs: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
  verification: {
    kind: 'hmac',
    algorithm: 'sha256',
    encoding: 'hex',
    header: 'X-Slack-Signature',
    prefix: 'v0=',
    timestamp: { header: 'X-Slack-Request-Timestamp', unit: 's', toleranceSeconds: 300 },
    signed: [{ text: 'v0:' }, 'timestamp', { text: ':' }, 'body'],
  },
  secret: { is: 'the signing secret of the app' },
  eventType: { payload: 'event.type' },
  eventId: { payload: 'event_id' },
  dedup: { jsonPath: '$.event_id' },
  handshakes: [{ kind: 'challenge', when: { member: 'type' }, is: 'url_verification', as: 'json' }],
  instructions:
    'Your app, Event Subscriptions: enter the address of the source as request URL. The url_verification is answered.',
  samples: [
    {
      event: 'app_mention',
      headers: { 'Content-Type': 'application/json' },
      body: {
        team_id: 'T123ABC456',
        api_app_id: 'A123ABC456',
        event: { type: 'app_mention', user: 'U123ABC456', text: 'Hello' },
        type: 'event_callback',
        event_id: 'Ev{uuid}',
        event_time: 1700000000,
      },
    },
  ],
};
