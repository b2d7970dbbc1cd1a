import { hmacOf, type Provider } from './provider.ts';

export const x: Provider = {
  name: 'x',
  title: 'X (Twitter)',
  docs: 'https://docs.x.com/x-api/webhooks/quickstart',
  verification: hmacOf({ encoding: 'base64', header: 'X-Twitter-Webhooks-Signature', prefix: 'sha256=' }),
  secret: { is: "the app's consumer secret (API secret key)" },
  dedup: { signature: true },
  handshakes: [
    {
      ...{ kind: 'query-hmac', parameter: 'crc_token', member: 'response_token' },
      ...{ algorithm: 'sha256', encoding: 'base64', prefix: 'sha256=' },
    },
  ],
  instructions:
    'Create the source first, then register its ingest URL with POST /2/webhooks. Hookyard responds to the challenge-response check (CRC), which X repeats every hour.',
  samples: [
    {
      event: 'tweet_create_events',
      body: {
        for_user_id: '2244994945',
        tweet_create_events: [
          {
            created_at: 'Wed Oct 10 20:19:24 +0000 2018',
            id_str: '1050118621198921728',
            text: 'Where can I buy this?',
            user: { id_str: '6253282', screen_name: 'emma' },
          },
        ],
      },
    },
    {
      event: 'favorite_events',
      body: {
        for_user_id: '2244994945',
        favorite_events: [
          { id: '{hex}', timestamp_ms: '{milliseconds:number}', user: { id_str: '6253282', screen_name: 'emma' } },
        ],
      },
    },
  ],
};
