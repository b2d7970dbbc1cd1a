import type { Provider } from './provider.ts';

export const github: Provider = {
  name: 'github',
  title: 'GitHub',
  docs: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
  verification: {
    kind: 'hmac',
    algorithm: 'sha256',
    encoding: 'hex',
    header: 'X-Hub-Signature-256',
    prefix: 'sha256=',
    signed: ['body'],
  },
  secret: { is: 'the secret of the webhook' },
  eventType: { header: 'X-GitHub-Event' },
  eventId: { header: 'X-GitHub-Delivery' },
  dedup: { header: 'X-GitHub-Delivery' },
  handshakes: [],
  instructions: 'Settings, Webhooks, Add webhook: enter the address of the source as payload URL, and the secret.',
  samples: [
    {
      event: 'push',
      headers: { 'Content-Type': 'application/json', 'X-GitHub-Event': 'push', 'X-GitHub-Delivery': '{uuid}' },
      body: {
        ref: 'refs/heads/main',
        before: '6113728f27ae82c7b1a177c8d03f9e96e0adf246',
        after: '7fd1a60b01f91b314f59955a4e4d4e80d8edf11d',
        repository: { full_name: 'octocat/hello-world' },
        sender: { login: 'octocat' },
      },
    },
  ],
};
