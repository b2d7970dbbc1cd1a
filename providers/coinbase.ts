import type { Provider, Sample } from './provider.ts';

const sample = (type: string, body: object): Sample => ({
  event: type,
  headers: { 'X-Event-Type': type, 'X-Event-Id': '{uuid}' },
  body,
});

export const coinbase: Provider = {
  name: 'coinbase',
  title: 'Coinbase (Developer Platform)',
  docs: 'https://docs.cdp.coinbase.com/webhooks/verify-signatures',
  verification: { kind: 'hook0', header: 'X-Hook0-Signature', toleranceSeconds: 300 },
  secret: { is: 'the secret returned when you create the subscription' },
  // In the headers: not all of its payloads have them.
  eventType: { header: 'X-Event-Type' },
  eventId: { header: 'X-Event-Id' },
  instructions:
    "Create the source with any secret. Then create a webhook subscription in the portal or with the API, with the ingest URL as the target URL, and set the subscription's secret as the source's secret. For Coinbase Commerce webhooks, choose coinbase-commerce as the provider.",
  samples: [
    sample('wallet.activity.detected', {
      eventId: '{uuid}',
      eventType: 'wallet.activity.detected',
      timestamp: '{time}',
      data: {
        network: 'base-mainnet',
        blockNumber: '12345678',
        transactionHash: '0x5f1c20d9a7b3e8460412c9d5ab7e63f0981d24c6e7ba5f3c12d8409be6a7c351',
        contractAddress: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
        eventName: 'Transfer',
      },
    }),
    sample('onchain.activity.detected', {
      network: 'base-mainnet',
      block_number: 46218191,
      event_name: 'Transfer',
      event_signature: 'Transfer(address,address,uint256)',
      log_index: 29,
      parameters: { from: '0xF33a96b5932D9E9B9A0eDA447AbD8C9d48d2e0c8', value: '474891138228179365' },
      timestamp: '{time}',
      transaction_hash: '0xa58e4471bcce875b1ea49cc0864a620d3a484b9b7c1b0b4fd18ce83f5b30e5e0',
    }),
  ],
};
