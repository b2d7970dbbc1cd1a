// A sample webhook, or a body of yours, as the provider of a source sends it.
import { type Provider, providerNamed } from '../providers/index.ts';
import { signedWebhook } from '../providers/signed.ts';
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
  const signed = signedWebhook(provider, { event: data === undefined ? event : undefined, secret, body: data, url });
  if (signed === 'no-sample')
    throw usage(`There is no sample of an event ${event} of ${name}; known are ${known(provider)}`);
  if (signed === 'private-key')
    throw usage(`${provider.title} signs with a private key, which nobody else has: let it send a test of its own`);
  const { headers, body, query } = signed;
  return { headers, body, query: new URLSearchParams(query).toString() };
}

const known = ({ samples }: Provider) => samples.map(({ event }) => event).join(', ');
