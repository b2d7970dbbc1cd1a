import { type Command, Option } from 'commander';
import type { Refusal, RefusalPage } from '../../client/index.ts';
import type { Provider } from '../../providers/index.ts';
import { contextOf } from '../context.ts';
import { usage } from '../errors.ts';
import { given, secretOf } from '../input.ts';
import { type Columns, showList } from '../show.ts';
import { type Call, type Resource, valuesOf } from './operation.ts';

const MEMBERS = {
  flags: {
    name: ['--name <name>', 'Display name (default for a new source: the slug)'],
    slug: null,
    provider: ['--provider <name>', 'Provider that sends the webhooks; list providers with: hookyard providers'],
    verificationConfig: null,
  },
  extra: withVerification,
  prepare: setVerification,
} as const;

const nameOf = ({ cause, limit }: Pick<Refusal, 'cause' | 'limit'>) => (limit ? `${cause} (${limit})` : cause);
const REFUSALS: Columns = {
  at: 'refusedAt',
  cause: nameOf,
  from: 'clientAddress',
  bytes: 'payloadSize',
  response: ({ status, message }: Refusal) => `${status} ${message}`,
};

export const sources: Resource = {
  ...{ name: 'sources', tag: 'Sources', one: 'source', about: 'Manage sources, which receive webhooks' },
  rows: [
    {
      operation: 'listSources',
      about: 'List sources, newest first',
      columns: {
        ...{ slug: 'slug', id: 'id', verify: 'provider|verificationConfig.type', enabled: 'enabled' },
        ...{ events: 'eventsCount', 'ingest URL': 'webhookUrl' },
      },
    },
    {
      operation: 'createSource',
      about: 'Create a source; the slug is part of the ingest URL and cannot be changed',
      args: ['slug'],
      ...MEMBERS,
      done: '{slug} was created ({id}); it receives webhooks at {webhookUrl}',
    },
    { operation: 'updateSource', ...MEMBERS },
    {
      operation: 'putSource',
      about: 'Create or replace a source; omitted fields are reset to their defaults, except protection settings',
      ...MEMBERS,
      done: '{slug} was applied ({id}); it receives webhooks at {webhookUrl}',
    },
    {
      operation: 'listRefusals',
      about: 'List refused webhooks, newest first',
      flags: {
        cause: ['--cause <cause>', 'Only webhooks refused for this reason'],
        period: ['--period <period>', 'Time period that the counts cover'],
        includePayload: ['--payload', 'Show the beginning of each payload'],
      },
      show({ context, query }, page: RefusalPage) {
        showList(context, page, { ...REFUSALS, ...(query.includePayload === true && { payload: 'payloadStart' }) });
        const causes = page.counts.causes.map((each) => `${nameOf(each)} ${each.count}`).join(', ');
        if (!context.output.json) context.output.note(`refused in the last ${page.counts.period}: ${causes || 'none'}`);
      },
    },
  ],
  leftOut: ['listProviders', 'signSample', 'signSourceSample'],
};

function withVerification(command: Command): Command {
  const type = new Option('--verify <type>', 'Signature verification type').choices(
    valuesOf('createSource', 'verificationConfig'),
  );
  return command
    .addOption(type.conflicts('provider'))
    .option('--verify-token <token>', 'Verify token (for providers that use one), or @file to read it from a file')
    .option('--confirm-subscriptions', 'For Amazon SNS: confirm subscriptions automatically')
    .option('--secret <secret>', 'Secret, token or public key to verify webhooks with, or @file to read it from a file')
    .option('--signature-header <name>', 'Header with the signature or token, for types without a fixed header');
}

interface VerificationOptions {
  verify?: string;
  verifyToken?: string;
  confirmSubscriptions?: boolean;
  secret?: string;
  signatureHeader?: string;
}

const asObject = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;

function setVerification({ body, options }: Call): void {
  const { verify, confirmSubscriptions, signatureHeader: header, ...files } = options as VerificationOptions;
  const described = asObject(body.verificationConfig);
  if (!verify && !body.provider && files.secret && described === undefined)
    throw usage('--secret requires --verify, --provider or a verificationConfig in --data');
  if (!body.provider && confirmSubscriptions) throw usage('--confirm-subscriptions requires --provider');
  if (!verify && header) throw usage('--signature-header requires --verify');
  const secret = secretOf(files.secret);
  const verifyToken = secretOf(files.verifyToken);
  // What --verify has no option for stands in --data.
  if (verify || (described && secret))
    body.verificationConfig = { ...described, ...given({ type: verify, secret, header }) };
  else if (body.provider) {
    const wanted = given({ secret, verifyToken, confirmSubscriptions });
    // Without any of them --data says it all: what it leaves out keeps its value.
    if (described || Object.keys(wanted).length > 0 || options.provider)
      body.verificationConfig = { ...described, ...wanted };
  }
}

export function addProviders(program: Command): void {
  program
    .command('providers [name]')
    .description('List providers, or show how to connect one')
    .action(async (name: string | undefined, _options, command: Command) => {
      const { providerNamed, providers } = await import('../../providers/index.ts');
      const { output } = contextOf(command);
      if (name === undefined)
        return output.result(providers.map(shown), () => {
          for (const { name: its, title } of providers) output.line(`${its.padEnd(20)} ${title}`);
        });
      const provider = providerNamed(name);
      if (provider === undefined) throw usage(`No provider named ${name}. List providers with: hookyard providers`);
      output.result(shown(provider), () => {
        output.line(`${provider.title} (${provider.docs})`);
        output.line(provider.instructions);
        if (provider.secret.is !== null) output.line(`--secret: ${provider.secret.is}`);
        if (provider.verifyToken !== undefined) output.line(`--verify-token: ${provider.verifyToken}`);
        output.line(`samples: ${provider.samples.map(({ event }) => event).join(', ')}`);
      });
    });
}

function shown({ name, title, docs, secret, verifyToken, instructions, samples }: Provider) {
  return {
    ...{ name, title, docs, secret: secret.is, verifyToken: verifyToken ?? null, instructions },
    samples: samples.map(({ event }) => event),
  };
}
