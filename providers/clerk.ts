import type { Provider } from './provider.ts';

export const clerk: Provider = {
  name: 'clerk',
  title: 'Clerk',
  docs: 'https://clerk.com/docs/guides/development/webhooks/syncing',
  verification: { kind: 'standard', headerPrefix: 'svix-' },
  secret: { is: 'the signing secret (whsec_...)' },
  eventType: { payload: 'type' },
  eventId: { header: 'svix-id' },
  dedup: { header: 'svix-id' },
  handshakes: [],
  instructions: 'Dashboard, Webhooks, Add Endpoint: enter the address of the source, then copy the signing secret.',
  samples: [
    {
      event: 'user.created',
      headers: { 'Content-Type': 'application/json' },
      body: { type: 'user.created', object: 'event', data: { id: 'user_29w83sxmDNGwOuEthce5gg56FcC' } },
    },
  ],
};
