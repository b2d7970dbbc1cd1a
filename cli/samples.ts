// Sample webhooks as the providers send them, and their signatures. The bodies are shortened from the providers' documentation.
import { randomUUID } from 'node:crypto';
import type { NamedType } from '../core/signatures/index.ts';
import { hmac, type SignatureAlgorithm, type SignatureEncoding } from '../core/signatures/scheme.ts';

/** A webhook of a source without verification is `plain`. */
export type Provider = Exclude<NamedType, 'none'> | 'plain';

/** How an `hmac` source is signed; the members of its `verificationConfig`. */
export interface HmacConfig {
  header?: string;
  algorithm?: SignatureAlgorithm;
  encoding?: SignatureEncoding;
  prefix?: string;
  timestampHeader?: string;
  timestampSeparator?: string;
}

const ORDER_EVENTS: readonly [string, ...string[]] = ['order.paid', 'order.created', 'order.cancelled'];

/** The events that there are samples of; the first is sent when none is named. */
export const EVENTS: Readonly<Record<Provider, readonly [string, ...string[]]>> = {
  github: ['push', 'pull_request', 'issues', 'ping'],
  stripe: [
    'payment_intent.succeeded',
    'payment_intent.payment_failed',
    'charge.refunded',
    'checkout.session.completed',
    'customer.created',
    'customer.subscription.updated',
    'customer.subscription.deleted',
    'invoice.paid',
    'invoice.payment_failed',
  ],
  slack: ['app_mention', 'message', 'url_verification'],
  hmac: ORDER_EVENTS,
  plain: ORDER_EVENTS,
};

export const PROVIDERS = Object.keys(EVENTS) as Provider[];

/** The body of one of the provider's events. */
export function sampleBody(provider: Provider, event: string, now: Date): unknown {
  switch (provider) {
    case 'github':
      return githubBody(event, now);
    case 'stripe':
      return stripeBody(event, now);
    case 'slack':
      return slackBody(event, now);
    case 'hmac':
    case 'plain':
      return { id: randomUUID(), kind: event, createdAt: now.toISOString(), order: ORDER };
  }
}

/**
 * The headers with which the provider sends a body.
 * @param secret signs it; undefined leaves the signature out
 */
export function headersFor(
  provider: Provider,
  event: string,
  body: Buffer,
  { secret, now, config = {} }: { secret?: string; now: Date; config?: HmacConfig },
): Record<string, string> {
  const seconds = String(Math.floor(now.getTime() / 1000));
  const mac = (...parts: (string | Buffer)[]) => hmac('sha256', secret ?? '', ...parts).toString('hex');
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  switch (provider) {
    case 'github':
      return {
        ...headers,
        'User-Agent': 'GitHub-Hookshot/0000000',
        'X-GitHub-Event': event,
        'X-GitHub-Delivery': randomUUID(),
        ...(secret && { 'X-Hub-Signature-256': `sha256=${mac(body)}` }),
      };
    case 'stripe':
      return { ...headers, ...(secret && { 'Stripe-Signature': `t=${seconds},v1=${mac(`${seconds}.`, body)}` }) };
    case 'slack':
      return {
        ...headers,
        ...(secret && {
          'X-Slack-Request-Timestamp': seconds,
          'X-Slack-Signature': `v0=${mac(`v0:${seconds}:`, body)}`,
        }),
      };
    case 'hmac': {
      const { header = 'X-Signature', algorithm = 'sha256', encoding = 'hex', prefix = '' } = config;
      const { timestampHeader, timestampSeparator = '.' } = config;
      const time = timestampHeader === undefined ? '' : seconds + timestampSeparator;
      const signature = hmac(algorithm, secret ?? '', time, body).toString(encoding);
      return {
        ...headers,
        ...(secret && { [header]: prefix + signature }),
        ...(secret && timestampHeader !== undefined && { [timestampHeader]: seconds }),
      };
    }
    case 'plain':
      return headers;
  }
}

const ORDER = {
  number: 1042,
  currency: 'EUR',
  total: 59.9,
  items: [{ sku: 'TEE-M-BLACK', quantity: 2, price: 29.95 }],
};

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

// https://docs.github.com/webhooks/webhook-events-and-payloads
function githubBody(event: string, now: Date): unknown {
  const common = { repository: REPOSITORY, sender: OCTOCAT };
  const commit = {
    id: '7fd1a60b01f91b314f59955a4e4d4e80d8edf11d',
    message: 'Update README.md',
    timestamp: now.toISOString(),
    url: `${REPOSITORY.html_url}/commit/7fd1a60b01f91b314f59955a4e4d4e80d8edf11d`,
    author: { name: 'The Octocat', email: 'octocat@github.com', username: 'octocat' },
    added: [],
    removed: [],
    modified: ['README.md'],
  };
  const issue = { number: 1347, title: 'Found a bug', state: 'open', body: 'It does not work.', user: OCTOCAT };
  const bodies: Record<string, object> = {
    ping: {
      zen: 'Design for failure.',
      hook_id: 30,
      hook: { type: 'Repository', id: 30, events: ['push'], active: true },
    },
    push: {
      ref: 'refs/heads/main',
      before: '6113728f27ae82c7b1a177c8d03f9e96e0adf246',
      after: commit.id,
      created: false,
      deleted: false,
      forced: false,
      pusher: { name: 'octocat', email: 'octocat@github.com' },
      commits: [commit],
      head_commit: commit,
    },
    issues: { action: 'opened', issue },
    pull_request: {
      action: 'opened',
      number: 1347,
      pull_request: { ...issue, merged: false, head: { ref: 'topic' }, base: { ref: 'main' } },
    },
  };
  return { ...bodies[event], ...common };
}

// https://docs.stripe.com/api/events/object
function stripeBody(event: string, now: Date): unknown {
  const created = Math.floor(now.getTime() / 1000);
  const object = event.split('.').slice(0, -1).join('.') || event;
  return {
    id: `evt_${randomUUID().replaceAll('-', '').slice(0, 24)}`,
    object: 'event',
    api_version: '2024-06-20',
    created,
    data: {
      object: {
        id: 'pi_3MtwBwLkdIwHu7ix28a3tqPa',
        object,
        amount: 5990,
        currency: 'eur',
        status: 'succeeded',
        created,
        livemode: false,
      },
    },
    livemode: false,
    pending_webhooks: 1,
    request: { id: 'req_QyDCzn33ls4m2t', idempotency_key: randomUUID() },
    type: event,
  };
}

// https://docs.slack.dev/apis/events-api
function slackBody(event: string, now: Date): unknown {
  const seconds = now.getTime() / 1000;
  if (event === 'url_verification') return { type: event, token: 'Jhj5dZrVaK7ZwHHjRyZWjbDl', challenge: randomUUID() };
  return {
    token: 'XXYYZZ',
    team_id: 'T123ABC456',
    api_app_id: 'A123ABC456',
    event: {
      type: event,
      user: 'U123ABC456',
      text: 'What is the hour of the pearl, <@U0LAN0Z89>?',
      ts: seconds.toFixed(6),
      channel: 'C123ABC456',
      event_ts: seconds.toFixed(6),
    },
    type: 'event_callback',
    event_id: `Ev${randomUUID().replaceAll('-', '').slice(0, 9).toUpperCase()}`,
    event_time: Math.floor(seconds),
  };
}
