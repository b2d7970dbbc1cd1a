// A sample webhook, or a body of yours, as the provider of a source sends it.
import { randomUUID } from 'node:crypto';
import { signAs } from '../core/verification/sign.ts';
import { type Provider, providerNamed } from '../providers/index.ts';
import { sampleOf } from '../providers/sample.ts';
import { usage } from './errors.ts';

export interface ProvidedWebhook {
  headers: Record<string, string>;
  body: Buffer;
  /** To be added to the address. */
  query: string;
}

/**
 * @param url the address as the provider has it, which some sign
 * @throws CliError for an event without a sample, or when nobody but the provider can sign
 */
export function providedWebhook(
  name: string,
  { event, secret, data, url }: { event?: string; secret: string; data?: Buffer; url: string },
): ProvidedWebhook {
  const provider = providerNamed(name);
  if (provider === undefined) throw usage(`This command line does not know the provider ${name}; update it`);
  const now = new Date();
  const sample = sampleOf(provider, data === undefined ? event : undefined, now);
  if (sample === undefined)
    throw usage(`There is no sample of an event ${event} of ${name}; known are ${known(provider)}`);
  const contentType = sample.headers['Content-Type'] ?? 'application/json';
  const unsigned = { url, body: data ?? sample.body, contentType, nowMs: now.getTime(), id: `msg_${randomUUID()}` };
  const signed = signAs(provider.verification, secret, unsigned);
  if (signed === null)
    throw usage(`${provider.title} signs with a private key, which nobody else has: let it send a test of its own`);
  return {
    headers: { ...sample.headers, ...signed.headers },
    body: signed.body,
    query: new URLSearchParams(signed.query).toString(),
  };
}

const known = ({ samples }: Provider) => samples.map(({ event }) => event).join(', ');
