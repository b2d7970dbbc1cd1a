// hookyard sources: where webhooks come in.
import { type Command, Option } from 'commander';
import type { Client, Refusal } from 'hookyard/client';
import { REFUSAL_CAUSES } from '../../core/ingest/refusal.ts';
import { VERIFICATION_TYPES } from '../../core/verification/config.ts';
import { contextOf } from '../context.ts';
import { usage } from '../errors.ts';
import { dataOf, enabledOf, findSource, given, pageOf, withData, withEnabled, withPages } from '../input.ts';
import { secretOf } from '../secret.ts';
import { showDone, showPage, showRecord } from './show.ts';

interface SourceOptions {
  name?: string;
  description?: string;
  verify?: string;
  provider?: string;
  verifyToken?: string;
  confirmSubscriptions?: boolean;
  secret?: string;
  signatureHeader?: string;
  allowPaths?: boolean;
  enable?: boolean;
  disable?: boolean;
  data?: string;
}
type CreateBody = Parameters<Client['createSource']>[0]['body'];
type PutBody = Parameters<Client['putSource']>[0]['body'];
type UpdateBody = Parameters<Client['updateSource']>[0]['body'];

export function addSources(program: Command): void {
  const sources = program.command('sources').description('where webhooks come in');
  withPages(sources.command('list'))
    .description('list sources, newest first')
    .option('--search <text>', 'in name and slug')
    .action(async (options, command: Command) => {
      const context = contextOf(command);
      showPage(context, await context.client.listSources({ ...pageOf(options), search: options.search }), {
        slug: (source) => source.slug,
        id: (source) => source.id,
        verify: (source) => source.provider ?? source.verificationConfig.type,
        enabled: (source) => source.enabled,
        events: (source) => source.eventsCount,
        address: (source) => source.webhookUrl,
      });
    });
  sources
    .command('show <source>')
    .description('show one, by slug or id')
    .action(async (source: string, _options, command: Command) => {
      const context = contextOf(command);
      showRecord(context, await findSource(context.client, source));
    });
  withSourceOptions(sources.command('create <slug>'))
    .description('create one; the slug is part of its address and cannot be changed')
    .action(async (slug: string, options: SourceOptions, command: Command) => {
      const context = contextOf(command);
      const body = { name: slug, slug, ...bodyOf(options) } as CreateBody;
      const source = await context.client.createSource({ body });
      showDone(context, source, `${source.slug} receives webhooks at ${source.webhookUrl} (${source.id})`);
    });
  withSourceOptions(sources.command('update <source>'))
    .description('change what you give, keep the rest')
    .action(async (slug: string, options: SourceOptions, command: Command) => {
      const context = contextOf(command);
      const body = bodyOf(options) as UpdateBody;
      const { id } = await findSource(context.client, slug);
      showRecord(context, await context.client.updateSource({ id, body }));
    });
  withSourceOptions(sources.command('apply <slug>'))
    .description(
      'create it, or make it what you give: what you leave out goes back to its default, except credentials and verification',
    )
    .action(async (slug: string, options: SourceOptions, command: Command) => {
      const context = contextOf(command);
      const body = { name: slug, ...bodyOf(options) } as PutBody;
      const source = await context.client.putSource({ slug, body });
      showDone(context, source, `${source.slug} is as given, at ${source.webhookUrl} (${source.id})`);
    });
  sources
    .command('delete <source>')
    .description('delete it, with its routes, events and deliveries')
    .action(async (slug: string, _options, command: Command) => {
      const context = contextOf(command);
      const { id } = await findSource(context.client, slug);
      await context.client.deleteSource({ id });
      showDone(context, { deleted: id }, `${slug} was deleted`);
    });
  addRefusals(sources);
}

type RefusalQuery = Omit<Parameters<Client['listRefusals']>[0], 'page' | 'pageSize'>;
interface RefusalOptions extends Pick<RefusalQuery, 'cause' | 'period'> {
  payload?: boolean;
  page?: string;
  pageSize?: string;
}

function addRefusals(sources: Command): void {
  withPages(sources.command('refusals <source>'))
    .description('webhooks to it that were refused, newest first')
    .addOption(new Option('--cause <cause>', 'only these').choices(REFUSAL_CAUSES))
    .addOption(new Option('--period <period>', 'of the counts').choices(['24h', '7d', '30d']))
    .option('--payload', 'with the beginning of their payloads')
    .action(async (slug: string, options: RefusalOptions, command: Command) => {
      const context = contextOf(command);
      const { cause, period, payload: includePayload } = options;
      const { id } = await findSource(context.client, slug);
      const query = { id, ...given({ cause, period, includePayload }), ...pageOf(options) };
      const refusals = await context.client.listRefusals(query);
      showPage(context, refusals, {
        at: (refusal) => refusal.refusedAt,
        cause: (refusal) => nameOf(refusal),
        from: (refusal) => refusal.clientAddress,
        bytes: (refusal) => refusal.payloadSize ?? '',
        told: (refusal) => `${refusal.status} ${refusal.message}`,
        ...(includePayload && { payload: (refusal: Refusal) => refusal.payloadStart ?? '' }),
      });
      const { counts } = refusals;
      const causes = counts.causes.map((each) => `${nameOf(each)} ${each.count}`).join(', ');
      if (!context.output.json) context.output.note(`in ${counts.period}: ${causes || 'none'}`);
    });
}

const asObject = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;

const nameOf = ({ cause, limit }: Pick<Refusal, 'cause' | 'limit'>) => (limit ? `${cause} (${limit})` : cause);

function withSourceOptions(command: Command): Command {
  return withData(withEnabled(command))
    .option('--name <name>', 'for people; the slug when not given')
    .option('--description <text>')
    .addOption(new Option('--verify <type>', 'how webhooks are signed').choices(VERIFICATION_TYPES))
    .addOption(new Option('--provider <name>', 'whose webhooks it receives (hookyard providers)').conflicts('verify'))
    .option('--verify-token <token>', 'the second secret of providers that have one; @file reads a file')
    .option('--confirm-subscriptions', 'of providers that send an address to confirm a subscription: open it')
    .option('--secret <secret>', 'that signs them; @file reads a file')
    .option('--signature-header <name>', 'the header that holds the signature or token, where it has no fixed name')
    .option('--allow-paths', 'take webhooks at paths below its address, too')
    .option('--no-allow-paths');
}

function bodyOf(options: SourceOptions): Record<string, unknown> {
  const { name, description, verify, provider, confirmSubscriptions, signatureHeader: header, allowPaths } = options;
  const data = dataOf(options.data);
  const described = asObject(data.verificationConfig);
  if (!verify && !provider && options.secret && described === undefined)
    throw usage('--secret needs --verify, --provider, or a verificationConfig in --data');
  if (!provider && confirmSubscriptions) throw usage('--confirm-subscriptions needs --provider');
  if (!verify && header) throw usage('--signature-header needs --verify');
  const secret = secretOf(options.secret);
  const verifyToken = secretOf(options.verifyToken);
  const ofProvider = provider ? given({ secret, verifyToken, confirmSubscriptions }) : undefined;
  // What --verify has no option for stands in --data.
  const own = given({ type: verify, secret, header });
  const verificationConfig = verify || (described && secret) ? { ...described, ...own } : ofProvider;
  const members = given({ name, description, provider, verificationConfig, allowPaths, enabled: enabledOf(options) });
  return { ...data, ...members };
}
