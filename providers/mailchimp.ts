import type { Provider, Sample } from './provider.ts';

const sample = (type: string, fields: Record<string, string>): Sample => ({
  event: type,
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams({ type, fired_at: '2026-03-26 21:35:57', ...fields }).toString(),
});

// Mailchimp signs nothing: its documentation advises a secret in the address.
export const mailchimp: Provider = {
  name: 'mailchimp',
  title: 'Mailchimp',
  docs: 'https://mailchimp.com/developer/marketing/guides/sync-audience-data-webhooks/',
  verification: { kind: 'query-token', parameter: 'secret' },
  secret: { is: 'a secret that you choose and append to the ingest URL as ?secret=' },
  eventType: { payload: 'type' },
  handshakes: [{ kind: 'get' }, { kind: 'head' }],
  instructions:
    'Go to Audience › Settings › Webhooks › Create new webhook. Enter the ingest URL followed by ?secret= and the secret. Hookyard responds to the GET request that Mailchimp sends to check the URL.',
  samples: [
    sample('subscribe', {
      ...{ 'data[id]': '8a25ff1d98', 'data[list_id]': 'a6b5da1054' },
      ...{ 'data[email]': 'emma@example.com', 'data[email_type]': 'html' },
    }),
    sample('unsubscribe', {
      ...{ 'data[action]': 'unsub', 'data[reason]': 'manual', 'data[id]': '8a25ff1d98' },
      ...{ 'data[list_id]': 'a6b5da1054', 'data[email]': 'emma@example.com' },
    }),
  ],
};
