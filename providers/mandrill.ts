import type { Provider, Sample } from './provider.ts';

const sample = (event: string, msg: object): Sample => ({
  event,
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams({
    mandrill_events: JSON.stringify([{ event, ts: 1365109999, _id: 'exampleaaaaaaaaaaaaaaaaaaaaaaaaa', msg }]),
  }).toString(),
});

export const mandrill: Provider = {
  name: 'mandrill',
  title: 'Mailchimp Transactional (Mandrill)',
  docs: 'https://mailchimp.com/developer/transactional/guides/track-respond-activity-webhooks/',
  // As Twilio does it. A webhook has up to a thousand events.
  verification: { kind: 'twilio', header: 'X-Mandrill-Signature', maxFormBytes: 2 * 1024 * 1024 },
  secret: { is: 'the webhook key' },
  // In a list in a field of a form.
  dedup: { signature: true },
  handshakes: [{ kind: 'head' }],
  instructions:
    "Create the source with any secret. Then go to Settings › Webhooks › Add a webhook and enter the ingest URL. Hookyard responds to the HEAD request that Mandrill sends. Then set the webhook key as the source's secret. Mandrill signs the URL, so the URL in Mandrill must start with HOOKYARD_PUBLIC_URL.",
  samples: [
    sample('send', { _id: 'exampleaaaaaaaaaaaaaaaaaaaaaaaaa', email: 'emma@example.com', state: 'sent' }),
    sample('hard_bounce', { email: 'emma@example.com', state: 'bounced', bounce_description: 'bad_mailbox' }),
  ],
};
