import type { Provider, Sample } from './provider.ts';

const sample = (event: string): Sample => ({
  event,
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: `<notification><kind>${event}</kind><timestamp type="datetime">{time}</timestamp><subject><subscription><id>{uuid}</id></subscription></subject></notification>`,
});

export const braintree: Provider = {
  name: 'braintree',
  title: 'Braintree',
  docs: 'https://developer.paypal.com/braintree/docs/guides/webhooks/overview',
  verification: { kind: 'braintree' },
  secret: { is: 'the public key and private key, separated by a colon' },
  dedup: { signature: true },
  handshakes: [{ kind: 'bt-challenge' }],
  instructions:
    'Create the source first. Then go to Settings › API › Webhooks and enter the ingest URL as the destination URL. Hookyard responds to the handshake. The bt_payload field contains the event as base64-encoded XML.',
  samples: [sample('subscription_went_active'), sample('subscription_canceled')],
};
