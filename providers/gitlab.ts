import type { Provider } from './provider.ts';

export const gitlab: Provider = {
  name: 'gitlab',
  title: 'GitLab',
  docs: 'https://docs.gitlab.com/user/project/integrations/webhooks/',
  verification: { kind: 'header-token', header: 'X-Gitlab-Token' },
  secret: { is: 'the secret token of the webhook' },
  eventType: { header: 'X-Gitlab-Event' },
  eventId: { header: 'X-Gitlab-Event-UUID' },
  dedup: { header: 'Idempotency-Key' },
  instructions:
    'Settings, Webhooks, Add new webhook: enter the address of the source and the secret token. For a webhook with a signing token choose standard-webhooks.',
  samples: [
    {
      event: 'Push Hook',
      headers: {
        'X-Gitlab-Event': 'Push Hook',
        'X-Gitlab-Event-UUID': '{uuid}',
        'Idempotency-Key': '{uuid}',
      },
      body: {
        object_kind: 'push',
        event_name: 'push',
        ref: 'refs/heads/main',
        project: { path_with_namespace: 'acme/shop' },
        total_commits_count: 1,
      },
    },
    {
      event: 'Merge Request Hook',
      headers: {
        'X-Gitlab-Event': 'Merge Request Hook',
        'X-Gitlab-Event-UUID': '{uuid}',
        'Idempotency-Key': '{uuid}',
      },
      body: {
        object_kind: 'merge_request',
        event_type: 'merge_request',
        project: { path_with_namespace: 'acme/shop' },
        object_attributes: { iid: 7, title: 'Faster checkout', state: 'opened', action: 'open' },
      },
    },
  ],
};
