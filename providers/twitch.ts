import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (type: string, version: string, event: object): Sample => ({
  event: type,
  headers: { 'Twitch-Eventsub-Message-Type': 'notification', 'Twitch-Eventsub-Subscription-Type': type },
  body: { subscription: { id: '{uuid}', type, version, status: 'enabled' }, event },
});

export const twitch: Provider = {
  name: 'twitch',
  title: 'Twitch EventSub',
  docs: 'https://dev.twitch.tv/docs/eventsub/handling-webhook-events/',
  verification: hmacOf({
    header: 'Twitch-Eventsub-Message-Signature',
    prefix: 'sha256=',
    timestampHeader: 'Twitch-Eventsub-Message-Timestamp',
    timestampUnit: 'rfc3339',
    toleranceSeconds: 600,
    idHeader: 'Twitch-Eventsub-Message-Id',
    template: '{id}{timestamp}{body}',
  }),
  secret: { is: "the subscription's secret" },
  eventType: { header: 'Twitch-Eventsub-Subscription-Type' },
  eventId: { header: 'Twitch-Eventsub-Message-Id' },
  handshakes: [
    {
      kind: 'challenge',
      when: { header: 'Twitch-Eventsub-Message-Type' },
      is: 'webhook_callback_verification',
      as: 'text',
    },
  ],
  instructions:
    "Use the Twitch API to create a subscription with the ingest URL as the transport.callback parameter and the source's secret as the transport.secret parameter. Hookyard responds to the handshake.",
  samples: [
    sample('stream.online', '1', { broadcaster_user_id: '1337', type: 'live' }),
    sample('channel.follow', '2', {
      user_id: '1234',
      user_login: 'emma',
      broadcaster_user_id: '1337',
      followed_at: '{time}',
    }),
  ],
};
