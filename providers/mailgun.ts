import type { Provider, Sample } from './provider.ts';

const sample = (event: string, members: object): Sample => ({
  event,
  body: {
    'event-data': { event, ...members, id: '{uuid}', timestamp: '{seconds:number}', recipient: 'emma@example.com' },
  },
});

export const mailgun: Provider = {
  name: 'mailgun',
  title: 'Mailgun',
  docs: 'https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks',
  verification: { kind: 'mailgun' },
  secret: { is: 'the HTTP webhook signing key' },
  eventType: { payload: 'event-data.event' },
  eventId: { payload: 'event-data.id' },
  // Its id is not signed: who captured a webhook could send it again with another.
  dedup: { signature: true },
  instructions:
    'Go to Sending › Webhooks › Add webhook and enter the ingest URL. For incoming email, go to Receiving › Create route and enter the same URL under Forward. The signature does not cover the event itself: use an ingest URL that cannot be guessed (ingestToken).',
  samples: [sample('delivered', {}), sample('failed', { severity: 'permanent', reason: 'suppress-bounce' })],
};
