import type { Provider, Sample } from './provider.ts';

const sample = (webhook_type: string, webhook_code: string, members: object): Sample => ({
  event: webhook_code,
  body: { webhook_type, webhook_code, item_id: '{uuid}', ...members, environment: 'sandbox' },
});

export const plaid: Provider = {
  name: 'plaid',
  title: 'Plaid',
  docs: 'https://plaid.com/docs/api/webhooks/webhook-verification/',
  verification: {
    kind: 'jwt',
    header: 'Plaid-Verification',
    algorithm: 'ES256',
    keys: 'plaid',
    bodyHash: 'request_body_sha256',
    toleranceSeconds: 300,
  },
  secret: { is: 'the environment (sandbox or production), client_id and secret, separated by colons', shortest: 1 },
  eventType: { payload: 'webhook_code' },
  instructions:
    "Set the ingest URL as the webhook URL of the Link token or item. Hookyard requests Plaid's keys with your client_id and secret, and sends these credentials only to Plaid. The signature does not identify the client: use an ingest URL that cannot be guessed (ingestToken), and check items with Plaid before you act on them.",
  samples: [
    sample('TRANSACTIONS', 'SYNC_UPDATES_AVAILABLE', {
      initial_update_complete: true,
      historical_update_complete: false,
    }),
    sample('ITEM', 'ERROR', { error: { error_type: 'ITEM_ERROR', error_code: 'ITEM_LOGIN_REQUIRED' } }),
  ],
};
