import { hmacOf, type Provider, type Sample } from './provider.ts';

const OCTOCAT = { login: 'octocat', id: 583231, type: 'User', site_admin: false };
const REPOSITORY = {
  id: 1296269,
  name: 'hello-world',
  full_name: 'octocat/hello-world',
  private: false,
  owner: OCTOCAT,
  html_url: 'https://github.com/octocat/hello-world',
  default_branch: 'main',
};
const COMMIT = {
  id: '7fd1a60b01f91b314f59955a4e4d4e80d8edf11d',
  message: 'Update README.md',
  timestamp: '{time}',
  url: `${REPOSITORY.html_url}/commit/7fd1a60b01f91b314f59955a4e4d4e80d8edf11d`,
  author: { name: 'The Octocat', email: 'octocat@github.com', username: 'octocat' },
  added: [],
  removed: [],
  modified: ['README.md'],
};
const ISSUE = { number: 1347, title: 'Found a bug', state: 'open', body: 'It does not work.', user: OCTOCAT };

// https://docs.github.com/webhooks/webhook-events-and-payloads
const sample = (event: string, body: object): Sample => ({
  event,
  headers: {
    'User-Agent': 'GitHub-Hookshot/0000000',
    'X-GitHub-Event': event,
    'X-GitHub-Delivery': '{uuid}',
  },
  body: { ...body, repository: REPOSITORY, sender: OCTOCAT },
});

export const github: Provider = {
  name: 'github',
  title: 'GitHub',
  docs: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
  verification: hmacOf({ header: 'X-Hub-Signature-256', prefix: 'sha256=' }),
  secret: { is: 'the webhook secret' },
  eventType: { header: 'X-GitHub-Event' },
  eventId: { header: 'X-GitHub-Delivery' },
  instructions:
    'Go to Settings › Webhooks › Add webhook. Enter the ingest URL as the payload URL, select application/json as the content type, and enter the secret.',
  samples: [
    sample('push', {
      ref: 'refs/heads/main',
      before: '6113728f27ae82c7b1a177c8d03f9e96e0adf246',
      after: COMMIT.id,
      created: false,
      deleted: false,
      forced: false,
      pusher: { name: 'octocat', email: 'octocat@github.com' },
      commits: [COMMIT],
      head_commit: COMMIT,
    }),
    sample('pull_request', {
      action: 'opened',
      number: 1347,
      pull_request: { ...ISSUE, merged: false, head: { ref: 'topic' }, base: { ref: 'main' } },
    }),
    sample('issues', { action: 'opened', issue: ISSUE }),
    sample('ping', {
      zen: 'Design for failure.',
      hook_id: 30,
      hook: { type: 'Repository', id: 30, events: ['push'], active: true },
    }),
  ],
};
