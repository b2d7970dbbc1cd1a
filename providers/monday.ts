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
  secret: { is: 'the signing secret of the app' },
  eventType: { payload: 'event.type' },
  eventId: { payload: 'event.triggerUuid' },
  dedup: { jsonPath: '$.event.triggerUuid' },
  // https://developer.monday.com/api-reference/docs/webhooks
  handshakes: [{ kind: 'echo-body' }],
  instructions:
    'Create the webhook with the API and an OAuth token of your app, so that monday.com signs: url is the address of the source. The challenge is answered. The token says who sends, not what. Webhooks that are made on a board by hand are not signed: for these make a source without a provider, with an address that nobody can guess (ingestToken).',
  samples: [
    sample('create_pulse', { pulseName: 'A new task' }),
    sample('update_column_value', { columnId: 'status', value: { label: { index: 1, text: 'Done' } } }),
  ],
};
