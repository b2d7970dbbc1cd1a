import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (type: string, name: string): Sample => ({
  event: type,
  body: {
    action: { id: '{uuid}', type, date: '{time}', data: { card: { name } } },
    model: { id: '4d5ea62fd76aa1136000000c' },
  },
});

export const trello: Provider = {
  name: 'trello',
  title: 'Trello',
  docs: 'https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/',
  verification: hmacOf({ algorithm: 'sha1', encoding: 'base64', header: 'X-Trello-Webhook', template: '{body}{url}' }),
  secret: { is: "the application's OAuth 1.0 secret" },
  eventType: { payload: 'action.type' },
  eventId: { payload: 'action.id' },
  handshakes: [{ kind: 'head' }],
  instructions:
    'Use the Trello API to create a webhook with the ingest URL as the callbackURL parameter. Hookyard responds to the HEAD request that Trello sends. Trello signs the URL, so the URL in Trello must start with HOOKYARD_PUBLIC_URL.',
  samples: [sample('updateCard', 'Buy milk'), sample('createCard', 'Buy bread')],
};
