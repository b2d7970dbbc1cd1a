import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (type: string, data: object): Sample => ({
  event: type,
  body: {
    id: '{uuid}',
    timestamp: '{time}',
    workspace_id: '13950b26-c203-4f3b-b97d-93ec06319565',
    type,
    entity: { id: '153104cd-477e-809d-8dc4-ff2d96ae3090', type: 'page' },
    data,
  },
});

export const notion: Provider = {
  name: 'notion',
  title: 'Notion',
  docs: 'https://developers.notion.com/reference/webhooks',
  verification: hmacOf({ header: 'X-Notion-Signature', prefix: 'sha256=' }),
  secret: { is: null },
  eventType: { payload: 'type' },
  eventId: { payload: 'id' },
  handshakes: [{ kind: 'verification-token' }],
  instructions:
    "Create the source without a secret and with ingestToken set to required. Then open the connection's settings, go to Webhooks › Create a subscription, and enter the ingest URL. Notion sends its verification token, and the source stores it. Copy the token from the source's lastHandshake, and enter it in Notion under Verify. To connect another subscription, create another source, or set verificationConfig.secret to null to remove the stored token.",
  samples: [
    sample('page.content_updated', { updated_blocks: [] }),
    sample('page.created', { parent: { id: '0ef104cd-477e-80e1-8571-cfd10e92339a', type: 'space' } }),
  ],
};
