// A sample webhook, or a body of yours, as the provider of a source sends it, or as its owner describes the sender.
import { randomUUID, type KeyObject } from 'node:crypto';
import type { Source } from '../client/index.ts';
import { describedScheme } from '../core/verification/described/index.ts';
import { type AnyScheme, needsPublishedKeys } from '../core/verification/index.ts';
import { signAs, signByKey, type Unsigned } from '../core/verification/sign.ts';
import { type Provider, providerNamed } from '../providers/index.ts';
import { sampleOf } from '../providers/sample.ts';
import { usage } from './errors.ts';

export interface ProvidedWebhook {
  headers: Record<string, string>;
  body: Buffer;
  /** To be added to the address. */
  query: string;
}

/** Of the source: one of them, or none where it has neither. */
export interface SigningKeys {
  secret: string | undefined;
  privateKey: KeyObject | undefined;
}

interface Sending {
  event?: string | undefined;
  data?: Buffer | undefined;
}

/**
 * @param url the address as the provider has it, which some sign
 * @throws CliError for an event without a sample, or when nobody but the provider can sign
 */
export function providedWebhook(
  source: Pick<Source, 'slug'>,
  name: string,
  { url, keys, ...sending }: Sending & { url: string; keys: SigningKeys },
): ProvidedWebhook {
  const provider = knownProvider(name);
  const sample = sampleFor(provider, sending);
  const signs = { slug: source.slug, title: provider.title, isOwn: false, name };
  const signed = signedBy(provider.verification, keys, signs, {
    ...unsignedOf(url, sample.body),
    contentType: sample.headers['Content-Type'] ?? 'application/json',
  });
  return { ...signed, headers: { ...sample.headers, ...signed.headers } };
}

/** As a source without verification gets it. @throws CliError for an event without a sample */
export function unsignedWebhook(name: string, sending: Sending): ProvidedWebhook {
  return { ...sampleFor(knownProvider(name), sending), query: '' };
}

/** Of a sender that the owner of the source describes. @throws CliError when nobody but the sender can sign */
export function describedWebhook(
  { slug, verificationConfig }: Pick<Source, 'slug' | 'verificationConfig'>,
  { url, keys, body }: { url: string; keys: SigningKeys; body: Buffer },
): ProvidedWebhook {
  const scheme = describedScheme(verificationConfig);
  if (scheme === null) throw usage(`This command line does not know how ${slug} verifies webhooks; update it`);
  const contentType = 'application/json';
  const signs = { slug, title: 'Its sender', isOwn: true, name: verificationConfig.type };
  const signed = signedBy(scheme, keys, signs, { ...unsignedOf(url, body), contentType });
  return { ...signed, headers: { 'Content-Type': contentType, ...signed.headers } };
}

function signedBy(
  scheme: AnyScheme,
  { secret, privateKey }: SigningKeys,
  who: { slug: string; title: string; name: string; isOwn: boolean },
  unsigned: Unsigned,
): ProvidedWebhook {
  if (scheme.kind === 'public-key' || scheme.kind === 'key-signature') {
    if (privateKey === undefined) throw usage(withoutKey(who));
    const { headers, body } = signByKey(scheme, keyFor(scheme.algorithm, privateKey), unsigned);
    return { headers, body, query: '' };
  }
  if (needsPublishedKeys(scheme)) throw usage(ofOthers(who));
  if (secret === undefined)
    throw usage(
      `${who.slug} verifies webhooks of ${who.name}: give its secret with --secret (@file reads it from a file)`,
    );
  const signed = signAs(scheme, secret, unsigned);
  // Standard Webhooks with a public key in place of the shared one.
  if (signed === null)
    throw usage(`${who.title} signs with a private key here, which nobody else has: let it send a test of its own`);
  return { headers: signed.headers, body: signed.body, query: new URLSearchParams(signed.query).toString() };
}

const withoutKey = ({ slug, title, name, isOwn }: { slug: string; title: string; name: string; isOwn: boolean }) =>
  `${title} signs with a private key. Make a pair of keys, give the public one to a source for tests (${
    isOwn ? `hookyard sources update ${slug}` : `hookyard sources create test --provider ${name}`
  } --secret @public.pem), and send with --private-key private.pem`;

const ofOthers = ({ title, name, isOwn }: { title: string; name: string; isOwn: boolean }) =>
  `${title} signs with keys that it alone has, and publishes the public ones: nobody else can send what this source takes. ` +
  `To try routes, make a source without verification: hookyard sources create test, then hookyard send --source test${
    isOwn ? '' : ` --provider ${name}`
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
  throw usage(`--private-key is a key of another kind than the source verifies; ${MAKE[algorithm]} makes one`);
}

function knownProvider(name: string): Provider {
  const provider = providerNamed(name);
  if (provider === undefined) throw usage(`This command line does not know the provider ${name}; update it`);
  return provider;
}

function sampleFor(provider: Provider, { event, data }: Sending) {
  const sample = sampleOf(provider, data === undefined ? event : undefined, new Date());
  if (sample === undefined)
    throw usage(`There is no sample of an event ${event} of ${provider.name}; known are ${known(provider)}`);
  return { headers: sample.headers, body: data ?? sample.body };
}

const unsignedOf = (url: string, body: Buffer) => ({ url, body, nowMs: Date.now(), id: `msg_${randomUUID()}` });
const known = ({ samples }: Provider) => samples.map(({ event }) => event).join(', ');
