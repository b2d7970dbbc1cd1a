import { hmacOf, type Provider, type Sample } from './provider.ts';

const USER = { id_str: '6253282', screen_name: 'emma' };

const sample = (event: string, members: object): Sample => ({
  event,
  body: { for_user_id: '2244994945', [event]: [{ ...members, user: USER }] },
});

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
    sample('tweet_create_events', {
      created_at: 'Wed Oct 10 20:19:24 +0000 2018',
      id_str: '1050118621198921728',
      text: 'Where can I buy this?',
    }),
    sample('favorite_events', { id: '{hex}', timestamp_ms: '{milliseconds:number}' }),
  ],
};
