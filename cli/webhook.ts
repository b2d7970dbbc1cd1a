// A sample webhook, or a body of yours, as the sender of a source sends it: its provider, or the sender that its owner
// describes.
import { randomUUID, type KeyObject } from 'node:crypto';
import type { Source } from '../client/index.ts';
import { needsPublishedKeys, needsSecret, type Scheme, signAs } from '../core/verification/index.ts';
import { signByKey } from '../core/verification/public-key.ts';
import type { Unsigned } from '../core/verification/scheme.ts';
import { type Provider, providerNamed, senderOf } from '../providers/index.ts';
import { sampleOf } from '../providers/sample.ts';
import { usage } from './errors.ts';

/** In place of a provider: a webhook of nobody in particular. */
const PLAIN = 'plain';

export interface Webhook {
  headers: Record<string, string>;
  body: Buffer;
  query: string;
}

export interface Wanted {
  /** Whose webhook it is, where the source does not say that. */
  provider?: string | undefined;
  event?: string | undefined;
  /** Instead of the body of the sample. */
  data?: Buffer | undefined;
  url: string;
  secret: string | undefined;
  privateKey: KeyObject | undefined;
}

type Target = Pick<Source, 'slug' | 'provider' | 'verificationConfig'>;

/** @throws CliError for an event without a sample, or when nobody but the sender can sign */
export function webhookFor(source: Target, wanted: Wanted): Webhook {
  const sender = senderOf({ provider: source.provider, verification: source.verificationConfig });
  if (sender === null)
    throw usage(
      `This version of hookyard does not support the signature verification of ${source.slug}; update hookyard`,
    );
  const provider = providerFor(source, wanted.provider);
  const sample = sampleFor(provider, wanted);
  const unsigned = {
    ...{ url: wanted.url, body: sample.body, nowMs: Date.now(), id: `msg_${randomUUID()}` },
    contentType: sample.headers['Content-Type'] ?? 'application/json',
  };
  const isSignedAnyway = sender.verification.kind === 'none' && wanted.secret !== undefined;
  const scheme = (isSignedAnyway && provider?.verification) || sender.verification;
  const signed = signedBy(scheme, wanted, source, provider, unsigned);
  return { ...signed, headers: { ...sample.headers, ...signed.headers } };
}

/** Null: a webhook of nobody in particular. @throws CliError for another provider than that of the source */
function providerFor(
  { slug, provider, verificationConfig: { type } }: Target,
  asked: string | undefined,
): Provider | null {
  const own = providerNamed(provider ?? type) ?? null;
  if (type === 'none' && (asked === undefined || asked === PLAIN)) return null;
  if (type === 'none') return knownProvider(asked ?? '');
  if (asked === undefined || asked === own?.name) return own;
  throw usage(
    own === null
      ? `${slug} verifies webhooks without a provider; omit --provider`
      : `${slug} accepts only ${own.name} webhooks; omit --provider`,
  );
}

function knownProvider(name: string): Provider {
  const provider = providerNamed(name);
  if (provider === undefined) throw usage(`No provider named ${name}. List providers with: hookyard providers`);
  return provider;
}

/** @param of whose webhook it is; null: the owner of the source describes the sender */
function signedBy(
  scheme: Scheme,
  { secret, privateKey }: Wanted,
  { slug, verificationConfig: { type } }: Target,
  of: Provider | null,
  unsigned: Unsigned,
): Webhook {
  if (scheme.kind === 'public-key') {
    if (privateKey === undefined) throw usage(withoutKey(of));
    const { headers, body } = signByKey(scheme, keyFor(scheme.algorithm, privateKey), unsigned);
    return { headers, body, query: '' };
  }
  if (needsPublishedKeys(scheme)) throw usage(ofOthers(of));
  if (secret === undefined && needsSecret(scheme))
    throw usage(
      `${slug} verifies webhooks (${of?.name ?? type}); pass its secret with --secret, or --secret @file to read it from a file`,
    );
  const signed = signAs(scheme, secret ?? '', unsigned);
  // Standard Webhooks with a public key in place of the shared one.
  if (signed === null)
    throw usage('--secret is a public key, so only the sender, who has the private key, can send a test webhook');
  return { headers: signed.headers, body: signed.body, query: new URLSearchParams(signed.query).toString() };
}

const titleOf = (of: Provider | null) => of?.title ?? 'The sender';

const withoutKey = (of: Provider | null) =>
  `${titleOf(of)} signs with a private key; generate a key pair, set the public key on a test source (${
    of === null
      ? 'as the secret in its verificationConfig'
      : `hookyard sources create test --provider ${of.name} --secret @public.pem`
  }) and send with --private-key private.pem`;

const ofOthers = (of: Provider | null) =>
  `${titleOf(of)} signs with private keys and publishes the public keys, so no other program can send webhooks that this source accepts; ` +
  `to test routes, create a source without verification and send to it: hookyard sources create test, then hookyard send --source test${
    of === null ? '' : ` --provider ${of.name}`
  }`;

const KEY_TYPES = { ecdsa: 'ec', ed25519: 'ed25519', rsa: 'rsa' } as const;
const MAKE = {
  ecdsa: 'openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256',
  ed25519: 'openssl genpkey -algorithm ed25519',
  rsa: 'openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048',
} as const;

function keyFor(algorithm: keyof typeof KEY_TYPES, key: KeyObject): KeyObject {
  const curve = key.asymmetricKeyDetails?.namedCurve ?? 'prime256v1';
  if (key.asymmetricKeyType === KEY_TYPES[algorithm] && curve === 'prime256v1') return key;
  throw usage(
    `--private-key has a different type than the source's public key; generate a key with: ${MAKE[algorithm]}`,
  );
}

const ORDER_EVENTS = ['order.paid', 'order.created', 'order.cancelled'];
const ORDER = {
  number: 1042,
  currency: 'EUR',
  total: 59.9,
  items: [{ sku: 'TEE-M-BLACK', quantity: 2, price: 29.95 }],
};

function sampleFor(provider: Provider | null, { event, data }: Wanted): Pick<Webhook, 'headers' | 'body'> {
  const events = provider?.samples.map((sample) => sample.event) ?? ORDER_EVENTS;
  const [first] = events;
  if (event !== undefined && data === undefined && !events.includes(event)) {
    const whose = provider === null ? '' : ` for ${provider.name}`;
    throw usage(
      `No sample event named ${event}${whose}. Valid sample events: ${events.join(', ')}. With --data, any event name is valid.`,
    );
  }
  const now = new Date();
  const named = event !== undefined && events.includes(event) ? event : first;
  const sample = provider && sampleOf(provider, named, now);
  if (!provider || !sample) {
    const order = { id: randomUUID(), kind: named, createdAt: now.toISOString(), order: ORDER };
    return { headers: { 'Content-Type': 'application/json' }, body: data ?? Buffer.from(JSON.stringify(order)) };
  }
  const { eventType } = provider;
  const typed = event !== undefined && eventType && 'header' in eventType ? { [eventType.header]: event } : {};
  return { headers: { ...sample.headers, ...typed }, body: data ?? sample.body };
}
