import type { Provider, Sample } from './provider.ts';

const sample = (event: string, body: object): Sample => ({
  event,
  headers: { 'X-Gitlab-Event': event, 'X-Gitlab-Event-UUID': '{uuid}', 'Idempotency-Key': '{uuid}' },
  body: { ...body, project: { path_with_namespace: 'acme/shop' } },
});

export const gitlab: Provider = {
  name: 'gitlab',
  title: 'GitLab',
  docs: 'https://docs.gitlab.com/user/project/integrations/webhooks/',
  verification: { kind: 'header-token', header: 'X-Gitlab-Token' },
  secret: { is: "the webhook's secret token" },
  eventType: { header: 'X-Gitlab-Event' },
  eventId: { header: 'X-Gitlab-Event-UUID' },
  dedup: { header: 'Idempotency-Key' },
  instructions:
    'Go to Settings › Webhooks › Add new webhook. Enter the ingest URL and the secret token. If the webhook uses a signing token, choose the standard-webhooks provider instead.',
  samples: [
    sample('Push Hook', { object_kind: 'push', event_name: 'push', ref: 'refs/heads/main', total_commits_count: 1 }),
    sample('Merge Request Hook', {
      object_kind: 'merge_request',
      event_type: 'merge_request',
      object_attributes: { iid: 7, title: 'Faster checkout', state: 'opened', action: 'open' },
    }),
  ],
};
