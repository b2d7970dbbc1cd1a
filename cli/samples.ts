// Webhooks as `hookyard send` makes them for the types of verificationConfig: the samples of the provider of the same name (providers/),
// and what each type signs.
import { randomUUID } from 'node:crypto';
import type { NamedType } from '../core/signatures/index.ts';
import { hmac, type SignatureAlgorithm, type SignatureEncoding } from '../core/signatures/scheme.ts';
import { providerNamed } from '../providers/index.ts';
import { sampleOf } from '../providers/sample.ts';

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

function eventsOf(name: string): readonly [string, ...string[]] {
  const [first, ...others] = (providerNamed(name)?.samples ?? []).map(({ event }) => event);
  return first === undefined ? ORDER_EVENTS : [first, ...others];
}

/** The events that there are samples of; the first is sent when none is named. */
export const EVENTS: Readonly<Record<Provider, readonly [string, ...string[]]>> = {
  github: eventsOf('github'),
  stripe: eventsOf('stripe'),
  slack: eventsOf('slack'),
  hmac: ORDER_EVENTS,
  plain: ORDER_EVENTS,
};

export const PROVIDERS = Object.keys(EVENTS) as Provider[];

/** The body of one of the provider's events. */
export function sampleBody(provider: Provider, event: string, now: Date): Buffer {
  const known = providerNamed(provider);
  const sample = known && sampleOf(known, event, now);
  if (sample !== undefined) return sample.body;
  return Buffer.from(JSON.stringify({ id: randomUUID(), kind: event, createdAt: now.toISOString(), order: ORDER }));
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
