import type { Provider } from './provider.ts';

export const notion: Provider = {
  name: 'notion',
  title: 'Notion',
  docs: 'https://developers.notion.com/reference/webhooks',
  verification: {
    kind: 'hmac',
    algorithm: 'sha256',
    encoding: 'hex',
    header: 'X-Notion-Signature',
    prefix: 'sha256=',
    signed: ['body'],
  },
  secret: { is: null },
  eventType: { payload: 'type' },
  eventId: { payload: 'id' },
  dedup: { jsonPath: '$.id' },
  handshakes: [{ kind: 'verification-token' }],
  instructions:
    'Integration settings, Webhooks, Create a subscription: enter the address of the source, which has a token (ingestToken). Notion sends its verification token; lastHandshake of the source shows it. Enter it at Notion under Verify.',
  samples: [
    {
      event: 'page.content_updated',
      headers: { 'Content-Type': 'application/json' },
      body: {
        id: '{uuid}',
        timestamp: '{time}',
        workspace_id: '13950b26-c203-4f3b-b97d-93ec06319565',
        type: 'page.content_updated',
        entity: { id: '153104cd-477e-809d-8dc4-ff2d96ae3090', type: 'page' },
        data: { updated_blocks: [] },
      },
    },
  ],
};
