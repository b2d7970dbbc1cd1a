import { hmacOf, type Provider, type Sample } from './provider.ts';

const sample = (event: string, body: object): Sample => ({
  event,
  headers: { 'X-Event-Key': event, 'X-Request-UUID': '{uuid}' },
  body: { repository: { full_name: 'acme/shop' }, actor: { display_name: 'Emma' }, ...body },
});

export const bitbucket: Provider = {
  name: 'bitbucket',
  title: 'Bitbucket Cloud',
  docs: 'https://bitbucket.org/blog/enhanced-webhook-security',
  verification: hmacOf({ header: 'X-Hub-Signature', prefix: 'sha256=' }),
  secret: { is: 'the webhook secret' },
  eventType: { header: 'X-Event-Key' },
  eventId: { header: 'X-Request-UUID' },
  instructions: 'Go to Repository settings › Webhooks › Add webhook. Enter the ingest URL and the secret.',
  samples: [
    sample('repo:push', { push: { changes: [] } }),
    sample('pullrequest:created', {
      pullrequest: { id: 7, title: 'Faster checkout', state: 'OPEN', source: { branch: { name: 'faster' } } },
    }),
  ],
};
