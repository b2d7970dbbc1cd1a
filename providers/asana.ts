import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (action: string, members: object): Sample => ({
  event: action,
  body: { events: [{ action, ...members, created_at: '{time}' }] },
});

export const asana: Provider = {
  name: 'asana',
  title: 'Asana',
  docs: 'https://developers.asana.com/docs/webhooks-guide',
  verification: hmacOf({ header: 'X-Hook-Signature' }),
  secret: { is: null },
  eventType: { payload: 'events.0.action' },
  handshakes: [{ kind: 'hook-secret' }],
  instructions:
    'Create the source without a secret and with ingestToken set to required. Then use the Asana API to create a webhook with the ingest URL as the target parameter. Asana sends the secret in its handshake, and the source stores it. To connect another webhook, create another source, or set verificationConfig.secret to null to remove the stored secret.',
  samples: [
    sample('changed', { resource: { gid: '1337', resource_type: 'task' }, parent: null }),
    sample('added', {
      resource: { gid: '1338', resource_type: 'story' },
      parent: { gid: '1337', resource_type: 'task' },
    }),
  ],
};
