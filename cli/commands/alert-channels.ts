// hookyard alert-channels: where the organization is told of its issues.
import type { Command } from 'commander';
import type { AlertChannel, Client } from 'hookyard/client';
import { CHANNEL_TYPES } from '../../core/messages/channel.ts';
import { contextOf } from '../context.ts';
import { CliError, EXIT, notFound, usage } from '../errors.ts';
import { collect, dataOf, enabledOf, given, integer, pageOf, withData, withEnabled, withPages } from '../input.ts';
import { secretOf } from '../secret.ts';
import { showDone, showPage, showRecord } from './show.ts';

interface ChannelOptions {
  name?: string;
  type?: string;
  emails?: string;
  to?: string;
  secret?: string;
  key?: string;
  kind?: string[];
  after?: string;
  throttle?: string;
  digest?: string;
  enable?: boolean;
  disable?: boolean;
  data?: string;
}
type CreateBody = Parameters<Client['createAlertChannel']>[0]['body'];
type UpdateBody = Parameters<Client['updateAlertChannel']>[0]['body'];

export function addAlertChannels(program: Command): void {
  const channels = program.command('alert-channels').description('where the organization is told of its issues');
  withPages(channels.command('list'))
    .description('list channels, newest first')
    .action(async (options, command: Command) => {
      const context = contextOf(command);
      showPage(context, await context.client.listAlertChannels(pageOf(options)), {
        name: (channel) => channel.name,
        id: (channel) => channel.id,
        type: (channel) => channel.type,
        enabled: (channel) => channel.enabled,
        'last sent': (channel) => channel.lastSentAt,
        'failing since': (channel) => channel.failingSince,
      });
    });
  channels
    .command('show <channel>')
    .description('show one, by id or name; its secret is masked')
    .action(async (name: string, _options, command: Command) => {
      const context = contextOf(command);
      const id = await findChannel(context.client, name);
      showRecord(context, await context.client.getAlertChannel({ id }));
    });
  withChannelOptions(channels.command('create <name>'))
    .requiredOption('--type <type>', `${CHANNEL_TYPES.slice(0, -1).join(', ')} or ${CHANNEL_TYPES.at(-1)}`)
    .description('create a channel; what else it may have goes into --data')
    .action(async (name: string, options: ChannelOptions, command: Command) => {
      const context = contextOf(command);
      const body = { ...bodyOf(options, options.type), name, type: options.type };
      const channel = await context.client.createAlertChannel({ body: body as CreateBody });
      showDone(context, channel, `${channel.name} was created (${channel.id})`);
      if (channel.lastError !== null) context.output.note(`nobody would be told: ${channel.lastError}`);
    });
  withChannelOptions(channels.command('update <channel>'))
    .description('change what you give, keep the rest')
    .option('--name <name>')
    .action(async (name: string, options: ChannelOptions, command: Command) => {
      const context = contextOf(command);
      const id = await findChannel(context.client, name);
      const { type } = await context.client.getAlertChannel({ id });
      const body = { ...bodyOf(options, type), ...given({ name: options.name }) };
      showRecord(context, await context.client.updateAlertChannel({ id, body: body as UpdateBody }));
    });
  channels
    .command('delete <channel>')
    .description('delete it; messages on their way are not sent')
    .action(async (name: string, _options, command: Command) => {
      const context = contextOf(command);
      const id = await findChannel(context.client, name);
      await context.client.deleteAlertChannel({ id });
      showDone(context, { deleted: id }, `${name} was deleted`);
    });
  channels
    .command('test <channel>')
    .description('send it a test message')
    .action(async (name: string, _options, command: Command) => {
      const context = contextOf(command);
      const id = await findChannel(context.client, name);
      const result = await context.client.testAlertChannel({ id });
      if (!result.success && !context.output.json) throw new CliError(EXIT.refused, result.message);
      showDone(context, result, `${result.message} (${result.latency} ms)`);
      if (!result.success) process.exitCode = EXIT.refused;
    });
}

function withChannelOptions(command: Command): Command {
  return withData(withEnabled(command))
    .option('--emails <addresses>', 'of mail, separated by commas')
    .option('--to <url>', 'of a webhook, or the one that Slack or Teams gave; @file reads a file')
    .option('--secret <secret>', 'of a webhook: whsec_...; @file reads a file')
    .option('--key <key>', 'integration key of PagerDuty; @file reads a file')
    .option('--kind <kind>', 'only issues of this kind; may be repeated', collect)
    .option('--after <n>', 'tell of an issue from this count on (1)')
    .option('--throttle <minutes>', 'between two messages about an issue (15)')
    .option('--digest <minutes>', 'one message with all changes, every so many minutes');
}

function bodyOf(options: ChannelOptions, type: string | undefined): Record<string, unknown> {
  const { config, ...data } = dataOf(options.data);
  const [url, secret, key] = [options.to, options.secret, options.key].map(secretOf);
  const members = given({
    emails: options.emails,
    url,
    secret,
    ...(type === 'pagerduty' ? { routingKey: key } : { apiKey: key }),
  });
  const isGiven = config !== undefined || Object.keys(members).length > 0;
  return {
    ...data,
    ...(isGiven && { config: { ...(config as object | undefined), ...members } }),
    ...given({
      kinds: options.kind,
      afterCount: integer(options.after, '--after'),
      throttleMinutes: integer(options.throttle, '--throttle'),
      digestMinutes: integer(options.digest, '--digest'),
      enabled: enabledOf(options),
    }),
  };
}

/** A channel's id by itself or by its name. @throws CliError when there is none, or more than one */
async function findChannel(client: Client, idOrName: string): Promise<string> {
  if (/^alc_/.test(idOrName)) return idOrName;
  const found: AlertChannel[] = [];
  for await (const one of client.each('listAlertChannels', { search: idOrName }))
    if (one.name === idOrName) found.push(one);
  const [first, ...others] = found;
  if (!first)
    throw notFound(`There is no alert channel ${idOrName}; hookyard alert-channels list shows those there are`);
  if (others.length > 0)
    throw usage(
      `${found.length} alert channels are named ${idOrName}; give an id: ${found.map(({ id }) => id).join(', ')}`,
    );
  return first.id;
}
