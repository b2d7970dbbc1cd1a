import type { Provider, Sample } from './provider.ts';

const sample = (type: string, members: object): Sample => ({
  event: type,
  body: {
    event: {
      ...{ app: 'monday', type, triggerUuid: '{uuid}', boardId: 224535, pulseId: 983678, userId: 103892 },
      ...members,
    },
  },
});

export const monday: Provider = {
  name: 'monday',
  title: 'monday.com',
  docs: 'https://developer.monday.com/apps/docs/authorization-header',
  verification: {
    kind: 'jwt',
    header: 'Authorization',
    algorithm: 'HS256',
    keys: 'secret',
    audience: 'optional',
    toleranceSeconds: 300,
  },
  secret: { is: "the app's signing secret" },
  eventType: { payload: 'event.type' },
  eventId: { payload: 'event.triggerUuid' },
  // https://developer.monday.com/api-reference/docs/webhooks
  handshakes: [{ kind: 'echo-body' }],
  instructions:
    "Use the monday.com API to create a webhook with the ingest URL as the url parameter, and authenticate with your app's OAuth token so that monday.com signs the webhook. Hookyard responds to the handshake. The signed token in each webhook verifies the sender, but not the content. Webhooks created manually on a board are not signed: for these, create a source without a provider and with an ingest URL that cannot be guessed (ingestToken).",
  samples: [
    sample('create_pulse', { pulseName: 'A new task' }),
    sample('update_column_value', { columnId: 'status', value: { label: { index: 1, text: 'Done' } } }),
  ],
};
