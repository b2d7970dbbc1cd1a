// hookyard destinations: where webhooks go.
import type { Command } from 'commander';
import type { Client, Route } from 'hookyard/client';
import { DESTINATION_TYPES } from '../../core/warehouse/config.ts';
import { contextOf } from '../context.ts';
import { CliError, EXIT, usage } from '../errors.ts';
import {
  collect,
  dataOf,
  enabledOf,
  findDestination,
  given,
  integer,
  pageOf,
  withData,
  withEnabled,
  withPages,
} from '../input.ts';
import { cell } from '../output.ts';
import { secretOf } from '../secret.ts';
import { addPauses } from './pauses.ts';
import { showDone, showPage, showRecord } from './show.ts';

interface DestinationOptions {
  name?: string;
  targetUrl?: string;
  type?: string;
  slug?: string;
  method?: string;
  header?: string[];
  bearer?: string;
  maxRetries?: string;
  forwardQuery?: boolean;
  forwardPath?: boolean;
  enable?: boolean;
  disable?: boolean;
  data?: string;
}
type CreateBody = Parameters<Client['createDestination']>[0]['body'];
type PutBody = Parameters<Client['putDestination']>[0]['body'];
type UpdateBody = Parameters<Client['updateDestination']>[0]['body'];

export function addDestinations(program: Command): void {
  const destinations = program.command('destinations').description('where webhooks go: HTTP endpoints and warehouses');
  withPages(destinations.command('list'))
    .description('list destinations, newest first')
    .option('--search <text>', 'in name and URL')
    .action(async (options, command: Command) => {
      const context = contextOf(command);
      showPage(context, await context.client.listDestinations({ ...pageOf(options), search: options.search }), {
        name: (destination) => destination.name,
        id: (destination) => destination.id,
        type: (destination) => destination.type,
        enabled: (destination) => destination.enabled,
        paused: (destination) => destination.paused,
        'success %': (destination) => ('successRate' in destination ? destination.successRate : null),
        url: (destination) => destination.url || null,
      });
    });
  destinations
    .command('show <destination>')
    .description('show one, by id or name; credentials are masked')
    .action(async (name: string, _options, command: Command) => {
      const context = contextOf(command);
      const id = await findDestination(context.client, name);
      showRecord(context, await context.client.getDestination({ id }));
    });
  withDestinationOptions(destinations.command('create <name> [url]'))
    .description('the url is that of an HTTP endpoint; for warehouses give --type and --data \'{"config": ...}\'')
    .option('--type <type>', `${DESTINATION_TYPES.slice(0, -1).join(', ')} or ${DESTINATION_TYPES.at(-1)} (http)`)
    .action(async (name: string, url: string | undefined, options: DestinationOptions, command: Command) => {
      const context = contextOf(command);
      const body = { ...bodyOf(options), name, ...given({ url, type: options.type }) };
      const destination = await context.client.createDestination({ body: body as CreateBody });
      showDone(context, destination, `${destination.name} was created (${destination.id})`);
    });
  withDestinationOptions(destinations.command('update <destination>'))
    .description('change what you give, keep the rest')
    .option('--name <name>')
    .option('--target-url <url>', 'where it goes from now on')
    .action(async (name: string, options: DestinationOptions, command: Command) => {
      const context = contextOf(command);
      const body = { ...bodyOf(options), ...given({ name: options.name, url: options.targetUrl }) };
      const id = await findDestination(context.client, name);
      showRecord(context, await context.client.updateDestination({ id, body: body as UpdateBody }));
    });
  withDestinationOptions(destinations.command('apply <slug> [url]'))
    .description('create it, or make it what you give: what you leave out goes back to its default, except credentials')
    .option('--name <name>', 'for people; the slug when not given')
    .option('--type <type>', 'as of create; it cannot be changed')
    .action(async (slug: string, url: string | undefined, options: DestinationOptions, command: Command) => {
      const context = contextOf(command);
      const body = { name: slug, ...bodyOf(options), ...given({ url, type: options.type, name: options.name }) };
      const destination = await context.client.putDestination({ slug, body: body as PutBody });
      showDone(context, destination, `${destination.name} is as given (${destination.id})`);
    });
  addPauses(destinations, {
    kind: 'destination',
    find: findDestination,
    pause: (client, id, body) => client.pauseDestination({ id, body }),
    resume: (client, id, body) => client.resumeDestination({ id, body }),
  });
  destinations
    .command('delete <destination>')
    .description(
      'delete it, remove it from all routes, and name routes that lead nowhere afterwards; its history is kept',
    )
    .action(async (name: string, _options, command: Command) => {
      const context = contextOf(command);
      const id = await findDestination(context.client, name);
      const emptied: Route[] = [];
      for await (const route of context.client.each('listRoutes', { destinationId: id }))
        if (route.destinationIds.length === 1) emptied.push(route);
      await context.client.deleteDestination({ id });
      showDone(context, { deleted: id, emptiedRoutes: emptied.map((route) => route.id) }, `${name} was deleted`);
      for (const route of emptied) context.output.note(withoutDestination(route));
    });
  destinations
    .command('test <destination>')
    .description('send it a sample webhook, or upload a sample file and show its row')
    .action(async (name: string, _options, command: Command) => {
      const context = contextOf(command);
      const id = await findDestination(context.client, name);
      const result = await context.client.testDestination({ id });
      if (!result.success && !context.output.json) throw new CliError(EXIT.refused, result.message);
      showDone(context, result, `${result.message} (${result.latency} ms)`);
      if (!context.output.json && 'result' in result) context.output.line(cell(JSON.stringify(result.result.row)));
      if (!result.success) process.exitCode = EXIT.refused;
    });
}

/** Webhooks are still accepted and stored, so nothing else would report that they are not delivered. */
function withoutDestination({ id, name }: Route): string {
  const quoted = cell(name);
  return `The route ${quoted} (${id}) leads nowhere now; hookyard routes update ${id} --to <destination>, or hookyard routes delete ${id}`;
}

function withDestinationOptions(command: Command): Command {
  return withData(withEnabled(command))
    .option('--slug <slug>', 'its name in export files')
    .option('--method <method>', 'POST, PUT or PATCH (POST)')
    .option('--header <"Name: value">', 'sent with every delivery; may be repeated, replaces all', collect)
    .option('--bearer <token>', 'sent as Authorization: Bearer; @file reads a file')
    .option('--max-retries <n>', 'after the first attempt (5)')
    .option('--forward-query', 'the query of a webhook travels to it')
    .option('--no-forward-query')
    .option('--forward-path', 'so does the path below the address of the source')
    .option('--no-forward-path');
}

function bodyOf(options: DestinationOptions): Record<string, unknown> {
  const { slug, method, header, forwardQuery, forwardPath } = options;
  const token = secretOf(options.bearer);
  const maxRetries = integer(options.maxRetries, '--max-retries');
  return {
    ...dataOf(options.data),
    ...given({ slug, method, headers: header && headersOf(header), enabled: enabledOf(options) }),
    ...given({ forwardQuery, forwardPath }),
    ...(token !== undefined && { authType: 'bearer', authConfig: { token } }),
    ...(maxRetries !== undefined && { retryPolicy: { maxRetries } }),
  };
}

function headersOf(lines: string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      if (colon < 1) throw usage(`--header must be "Name: value", not "${line}"`);
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}
