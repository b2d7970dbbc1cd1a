import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (event: string, members: object): Sample => ({
  event,
  body: {
    event,
    event_ts: '{milliseconds:number}',
    payload: { account_id: 'AAAAAABBBB', object: { id: '1234567890', topic: 'My Meeting', ...members } },
  },
});

export const zoom: Provider = {
  name: 'zoom',
  title: 'Zoom',
  docs: 'https://developers.zoom.us/docs/api/webhooks/',
  verification: hmacOf({
    header: 'x-zm-signature',
    prefix: 'v0=',
    timestampHeader: 'x-zm-request-timestamp',
    template: 'v0:{timestamp}:{body}',
  }),
  secret: { is: "the app's secret token" },
  eventType: { payload: 'event' },
  handshakes: [{ kind: 'plain-token' }],
  instructions:
    'Go to App Marketplace › your app › Access › Event Subscriptions. Enter the ingest URL as the notification endpoint, then validate it.',
  samples: [sample('meeting.started', {}), sample('meeting.ended', { duration: 30 })],
};
