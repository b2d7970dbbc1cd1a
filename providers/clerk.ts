import type { Provider, Sample } from './provider.ts';

const USER = {
  id: 'user_29w83sxmDNGwOuEthce5gg56FcC',
  object: 'user',
  first_name: 'Emma',
  last_name: 'Example',
  email_addresses: [{ id: 'idn_29w83yL7CwVlJXylYLxcslromF1', email_address: 'emma@example.com' }],
};

const sample = (event: string, data: object): Sample => ({
  event,
  body: { type: event, object: 'event', timestamp: '{milliseconds:number}', data },
});

export const clerk: Provider = {
  name: 'clerk',
  title: 'Clerk',
  docs: 'https://clerk.com/docs/guides/development/webhooks/syncing',
  verification: { kind: 'standard', headerPrefix: 'svix-' },
  secret: { is: 'the signing secret (whsec_...)' },
  eventType: { payload: 'type' },
  eventId: { header: 'svix-id' },
  instructions: 'Go to Dashboard › Webhooks › Add Endpoint. Enter the ingest URL, then copy the signing secret.',
  samples: [
    sample('user.created', USER),
    sample('user.deleted', { id: USER.id, object: 'user', deleted: true }),
    sample('session.created', {
      id: 'sess_29w83sxmDNGwOuEthce5gg56FcC',
      object: 'session',
      user_id: USER.id,
      status: 'active',
    }),
    sample('organization.created', { id: 'org_29w83sxmDNGwOuEthce5gg56FcC', object: 'organization', name: 'Acme' }),
  ],
};
