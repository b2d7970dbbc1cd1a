import { NO_CONTENT, type Provider, type Sample } from './provider.ts';

const sample = (eventType: string, members: object): Sample => ({
  event: eventType,
  body: {
    eventType: 'com.okta.event_hook',
    eventTypeVersion: '1.0',
    cloudEventsVersion: '0.1',
    eventId: '{uuid}',
    eventTime: '{time}',
    data: { events: [{ eventType, ...members }] },
  },
});

export const okta: Provider = {
  name: 'okta',
  title: 'Okta',
  docs: 'https://developer.okta.com/docs/concepts/event-hooks/',
  verification: { kind: 'header-token', header: 'Authorization' },
  secret: { is: "the event hook's authentication secret" },
  eventType: { payload: 'data.events.0.eventType' },
  eventId: { payload: 'eventId' },
  handshakes: [{ kind: 'echo-header', header: 'X-Okta-Verification-Challenge', member: 'verification' }],
  // It wants 200 or 204 within 3 seconds, and no body.
  answer: NO_CONTENT,
  instructions:
    'Go to Workflow › Event Hooks › Create. Enter the ingest URL and the secret, and enter Authorization as the authentication field. Then verify the event hook: Hookyard responds to the handshake.',
  samples: [sample('user.lifecycle.create', {}), sample('user.session.start', { outcome: { result: 'SUCCESS' } })],
};
