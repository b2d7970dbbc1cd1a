// hookyard routes: which webhooks go where.
import type { Command } from 'commander';
import type { Client } from '../../client/index.ts';
import { contextOf } from '../context.ts';
import {
  collect,
  dataOf,
  enabledOf,
  findDestination,
  findRoute,
  findSource,
  given,
  pageOf,
  withData,
  withEnabled,
  withPages,
} from '../input.ts';
import { type Output, printable } from '../output.ts';
import { addPauses } from './pauses.ts';
import { showDone, showPage, showRecord } from './show.ts';

interface RouteOptions {
  name?: string;
  source?: string;
  to?: string[];
  failover?: string[];
  enable?: boolean;
  disable?: boolean;
  data?: string;
}
type CreateBody = Parameters<Client['createRoute']>[0]['body'];
type UpdateBody = Parameters<Client['updateRoute']>[0]['body'];

export function addRoutes(program: Command): void {
  const routes = program.command('routes').description('which webhooks go where');
  withPages(routes.command('list'))
    .description('list routes, newest first')
    .option('--source <source>', 'slug or id')
    .option('--destination <destination>', 'name or id')
    .action(async (options, command: Command) => {
      const context = contextOf(command);
      const { client } = context;
      const sourceId = options.source && (await findSource(client, options.source)).id;
      const destinationId = options.destination && (await findDestination(client, options.destination));
      showPage(context, await client.listRoutes({ ...pageOf(options), sourceId, destinationId }), {
        name: (route) => route.name,
        id: (route) => route.id,
        source: (route) => route.source.name,
        destinations: (route) => route.destinations.map(({ name }) => name).join(', '),
        enabled: (route) => route.enabled,
        paused: (route) => route.paused,
        circuit: (route) => route.circuitState,
        events: (route) => route.eventsRouted,
      });
    });
  routes
    .command('show <route>')
    .description('show one, by id or name')
    .action(async (name: string, _options, command: Command) => {
      const context = contextOf(command);
      const id = await findRoute(context.client, name);
      showRecord(context, await context.client.getRoute({ id }));
    });
  routes
    .command('preview <route> <event>')
    .description('show what it would send for an event now; nothing is sent')
    .action(async (name: string, eventId: string, _options, command: Command) => {
      const { client, output } = contextOf(command);
      const answer = await client.previewRoute({ id: await findRoute(client, name), body: { eventId } });
      output.result(answer, () => showPreview(output, answer));
    });
  withRouteOptions(routes.command('create <name>'))
    .description('create one, from a source to one or more destinations')
    .requiredOption('--source <source>', 'slug or id')
    .action(async (name: string, options: RouteOptions, command: Command) => {
      const context = contextOf(command);
      const sourceId = (await findSource(context.client, options.source ?? '')).id;
      const body = { ...(await bodyOf(context.client, options)), name, sourceId };
      const route = await context.client.createRoute({ body: body as CreateBody });
      const to = route.destinations.map((destination) => destination.name).join(', ');
      showDone(context, route, `${route.source.name} is delivered to ${to} (${route.id})`);
    });
  withRouteOptions(routes.command('update <route>'))
    .description('change what you give, keep the rest')
    .option('--name <name>')
    .action(async (name: string, options: RouteOptions, command: Command) => {
      const context = contextOf(command);
      const body = { ...(await bodyOf(context.client, options)), ...given({ name: options.name }) };
      const id = await findRoute(context.client, name);
      showRecord(context, await context.client.updateRoute({ id, body: body as UpdateBody }));
    });
  withRouteOptions(routes.command('apply <name>'))
    .description('create it, or make it exactly what you give: what you leave out goes back to its default')
    .requiredOption('--source <source>', 'slug or id')
    .action(async (name: string, options: RouteOptions, command: Command) => {
      const context = contextOf(command);
      const sourceId = (await findSource(context.client, options.source ?? '')).id;
      const body = { ...(await bodyOf(context.client, options)), name, sourceId };
      const route = await context.client.putRoute({ name, body: body as CreateBody });
      showDone(context, route, `${route.name} is as given (${route.id})`);
    });
  addPauses(routes, {
    kind: 'route',
    find: findRoute,
    pause: (client, id, body) => client.pauseRoute({ id, body }),
    resume: (client, id, body) => client.resumeRoute({ id, body }),
  });
  routes
    .command('delete <route>')
    .description('delete it; its source and destinations stay')
    .action(async (name: string, _options, command: Command) => {
      const context = contextOf(command);
      const id = await findRoute(context.client, name);
      await context.client.deleteRoute({ id });
      showDone(context, { deleted: id }, `${name} was deleted`);
    });
}

function showPreview(
  output: Output,
  { verdict, error, schemaErrors, content, requests }: Awaited<ReturnType<Client['previewRoute']>>,
): void {
  output.fields({ verdict, error: error ?? undefined });
  for (const { path, message } of schemaErrors) output.note(printable(`${path}: ${message}`));
  for (const { destinationName, enabled, request, problem } of requests) {
    output.line('');
    output.line(printable(`${destinationName}${enabled ? '' : ' (disabled: nothing is sent)'}`));
    if (problem !== null) output.line(printable(problem.message));
    if (request === null) continue;
    output.line(printable(`${request.method} ${request.url}`));
    for (const [name, value] of Object.entries(request.headers)) {
      output.line(`${output.style('dim', printable(name))}: ${printable(value)}`);
    }
  }
  if (content === null) return;
  output.line('');
  output.line(printable(content.body));
  if (content.isCut) output.note(`The first part of ${content.bodySize} bytes`);
}

function withRouteOptions(command: Command): Command {
  return withData(withEnabled(command))
    .option('--to <destination>', 'name or id; may be repeated', collect)
    .option('--failover <destination>', 'name or id; up to three, in order', collect);
}

async function bodyOf(client: Client, options: RouteOptions): Promise<Record<string, unknown>> {
  const ids = async (names: string[]) => {
    const found: string[] = [];
    for (const name of names) found.push(await findDestination(client, name));
    return found;
  };
  return {
    ...dataOf(options.data),
    ...given({
      destinationIds: options.to && (await ids(options.to)),
      failoverDestinationIds: options.failover && (await ids(options.failover)),
      enabled: enabledOf(options),
    }),
  };
}
