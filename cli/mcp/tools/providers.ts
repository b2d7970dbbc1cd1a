// Connecting a provider: what it needs, where it sends its webhooks, and the source that takes them.
import { z } from 'zod';
import type { Client, Provider, Source } from '../../../client/index.ts';
import { notFound, usage } from '../../errors.ts';
import { given } from '../../input.ts';
import { tool } from '../tool.ts';

type CreateBody = Parameters<Client['createSource']>[0]['body'];

export const getProvider = tool({
  name: 'get_provider',
  title: 'Show how to connect a provider',
  description:
    'Explains how to connect a provider (Stripe, GitHub, Shopify, ...): where to enter the ingest URL, which secret is required and which ' +
    'handshakes are supported. Also returns the ingest URLs of existing sources for the provider. Without a provider name, it lists all providers.',
  input: z.strictObject({
    provider: z.string().min(1).max(100).describe('Provider name, such as stripe').optional(),
  }),
  more: 'Pass a provider name.',
  async run({ client }, { provider: name }) {
    const all = await providersOf(client);
    if (name === undefined) {
      const providers = all.map((provider) => ({ name: provider.name, title: provider.title }));
      return { summary: `${all.length} providers; pass a name to learn how to connect one.`, data: { providers } };
    }
    const provider = named(all, name);
    const sources = await sourcesOf(client, name);
    return { summary: howTo(provider, sources), data: { providers: [provider], sources } };
  },
});

export const connectProvider = tool({
  name: 'connect_provider',
  title: 'Create a source for a provider',
  description:
    "Creates a source that accepts a provider's webhooks, and returns the ingest URL to enter in the provider's settings. get_provider describes the required secret. A secret " +
    'passed here becomes part of this conversation; to keep the secret out of the conversation, ask the user to run ' +
    'npx hookyard sources create <slug> --provider <name> --secret @file instead.',
  effect: 'adds',
  input: z.strictObject({
    provider: z.string().min(1).max(100).describe('Provider name, such as stripe'),
    slug: z
      .string()
      .min(1)
      .max(63)
      .describe('Part of the ingest URL (lowercase letters, digits and single hyphens); cannot be changed'),
    name: z.string().min(1).max(200).describe('Display name (default: the slug)').optional(),
    secret: z.string().min(1).max(4096).describe('The secret that get_provider describes').optional(),
    verifyToken: z.string().min(1).max(4096).describe('The verify token that get_provider describes').optional(),
  }),
  more: 'Use list_sources to see the source.',
  async run({ client }, { provider: wanted, slug, name = slug, secret, verifyToken }) {
    const provider = named(await providersOf(client), wanted);
    requireSecrets(provider, slug, { secret, verifyToken });
    const verificationConfig = given({ secret, verifyToken });
    const body = { name, slug, provider: provider.name, verificationConfig } as CreateBody;
    const source = await client.createSource({ body });
    const { instructions } = provider;
    return {
      summary: `${slug} accepts ${provider.title} webhooks at ${source.webhookUrl}. ${instructions} Create a route to deliver the events.`,
      data: { source: inShort(source), instructions },
    };
  },
});

/** @throws CliError that says how a secret comes to the service without a model that reads it */
function requireSecrets(
  provider: Provider,
  slug: string,
  sent: { secret?: string | undefined; verifyToken?: string | undefined },
) {
  const missing = (['secret', 'verifyToken'] as const).filter(
    (member) => provider[member] !== null && sent[member] === undefined,
  );
  if (missing.length === 0) return;
  const which = missing.map((member) => `${member} (${provider[member]})`).join(' and ');
  const options = missing.map((member) => (member === 'secret' ? '--secret @file' : '--verify-token @file')).join(' ');
  throw usage(
    `${provider.title} requires ${which}; to keep secrets out of this conversation, ask the user to run: ` +
      `npx hookyard sources create ${slug} --provider ${provider.name} ${options}`,
  );
}

async function providersOf(client: Client): Promise<Provider[]> {
  const all: Provider[] = [];
  for await (const provider of client.each('listProviders')) all.push(provider);
  return all;
}

function named(all: Provider[], name: string): Provider {
  const provider = all.find((one) => one.name === name.toLowerCase());
  if (provider !== undefined) return provider;
  throw notFound(
    `Invalid provider ${name}. Valid providers: ${all.map((one) => one.name).join(', ')}. Many other senders sign according to Standard Webhooks; for these, pass standard-webhooks.`,
  );
}

async function sourcesOf(client: Client, name: string) {
  const found = [];
  for await (const source of client.each('listSources')) if (source.provider === name) found.push(inShort(source));
  return found;
}

function inShort({ id, slug, name, webhookUrl, enabled, lastHandshake, lastEventAt }: Source) {
  return { id, slug, name, webhookUrl, enabled, lastHandshake, lastEventAt };
}

function howTo(
  { title, instructions, secret, verifyToken, docs }: Provider,
  sources: { webhookUrl: string }[],
): string {
  const addresses = sources.map(({ webhookUrl }) => webhookUrl).join(', ');
  return [
    `${title}: ${instructions}`,
    secret === null ? 'The provider sends its secret in its handshake.' : `The secret is ${secret}.`,
    ...(verifyToken === null ? [] : [`The verify token is ${verifyToken}.`]),
    sources.length === 0
      ? 'No source exists for this provider yet; create a source to get an ingest URL.'
      : `Ingest URL: ${addresses}`,
    `Documentation: ${docs}`,
  ].join('\n');
}
