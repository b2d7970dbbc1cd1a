import type { Provider } from './provider.ts';

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
  secret: { is: 'sandbox or production, a colon, the client_id, a colon and the secret of the client', shortest: 1 },
  eventType: { payload: 'webhook_code' },
  instructions:
    'Enter the address of the source as webhook of the Link token or the item. The keys of Plaid are asked for with your client_id and secret, which are sent to Plaid only. The signature does not say for which client it is: give the source an address that nobody can guess (ingestToken), and look items up before you act.',
  samples: [
    {
      event: 'SYNC_UPDATES_AVAILABLE',
      body: {
        webhook_type: 'TRANSACTIONS',
        webhook_code: 'SYNC_UPDATES_AVAILABLE',
        item_id: '{uuid}',
        initial_update_complete: true,
        historical_update_complete: false,
        environment: 'sandbox',
      },
    },
    {
      event: 'ERROR',
      body: {
        webhook_type: 'ITEM',
        webhook_code: 'ERROR',
        item_id: '{uuid}',
        error: { error_type: 'ITEM_ERROR', error_code: 'ITEM_LOGIN_REQUIRED' },
        environment: 'sandbox',
      },
    },
  ],
};
