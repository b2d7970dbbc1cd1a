import { hmacOf, type Provider, type Sample } from './provider.ts';

// https://docs.slack.dev/apis/events-api
const sample = (event: { type: string } & Record<string, unknown>): Sample => ({
  event: event.type,
  body: {
    token: 'XXYYZZ',
    team_id: 'T123ABC456',
    api_app_id: 'A123ABC456',
    event: {
      ...event,
      user: 'U123ABC456',
      channel: 'C123ABC456',
      ts: '{seconds}.000100',
      event_ts: '{seconds}.000100',
    },
    type: 'event_callback',
    event_id: 'Ev{hex}',
    event_time: '{seconds:number}',
  },
});

export const slack: Provider = {
  name: 'slack',
  title: 'Slack',
  docs: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
  verification: hmacOf({
    header: 'X-Slack-Signature',
    prefix: 'v0=',
    timestampHeader: 'X-Slack-Request-Timestamp',
    template: 'v0:{timestamp}:{body}',
  }),
  secret: { is: "the app's signing secret" },
  eventType: { payload: 'event.type' },
  eventId: { payload: 'event_id' },
  handshakes: [
    { kind: 'challenge', when: { member: 'type' }, is: 'url_verification', as: 'json' },
    { kind: 'ssl-check' },
  ],
  instructions:
    'Go to your app › Event Subscriptions and enter the ingest URL as the request URL. Hookyard responds to url_verification requests and to ssl_check requests for slash commands.',
  samples: [
    sample({ type: 'app_mention', text: 'What is the hour of the pearl, <@U0LAN0Z89>?' }),
    sample({ type: 'message', channel_type: 'channel', text: 'The order has arrived' }),
    sample({ type: 'reaction_added', reaction: 'thumbsup', item: { type: 'message', channel: 'C123ABC456' } }),
    {
      event: 'url_verification',
      body: { type: 'url_verification', token: 'Jhj5dZrVaK7ZwHHjRyZWjbDl', challenge: '{uuid}' },
      isHandshake: true,
    },
  ],
};
