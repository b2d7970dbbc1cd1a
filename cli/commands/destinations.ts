import type { Command } from 'commander';
import type { Route } from '../../client/index.ts';
import { usage } from '../errors.ts';
import { collect, given, integer, secretOf } from '../input.ts';
import { cell } from '../output.ts';
import { showDone } from '../show.ts';
import { type Call, type Resource, valuesOf } from './operation.ts';
import { pauseRows } from './routes.ts';

const TYPES = `Type: ${valuesOf('createDestination', 'type').join(', ')} (default: http)`;
const MEMBERS = { extra: withOptions, prepare: setMembers } as const;
const FLAGS = {
  slug: ['--slug <slug>', 'Unique slug, used in export files instead of the ID'],
  headers: null,
} as const;

export const destinations: Resource = {
  ...{ name: 'destinations', tag: 'Destinations', one: 'destination' },
  about: 'Manage destinations: HTTP endpoints and warehouses',
  rows: [
    {
      operation: 'listDestinations',
      about: 'List destinations, newest first',
      columns: {
        ...{ name: 'name', id: 'id', type: 'type', enabled: 'enabled', paused: 'paused', 'success %': 'successRate' },
        url: ({ url }: { url?: string }) => url || null,
      },
    },
    {
      operation: 'createDestination',
      about: 'Create a destination: an HTTP endpoint with a URL, or a warehouse with --type and --config',
      args: ['name', 'url?'],
      flags: { ...FLAGS, type: ['--type <type>', TYPES] },
      ...MEMBERS,
      done: '{name} was created ({id})',
    },
    { operation: 'updateDestination', flags: { ...FLAGS, type: null }, ...MEMBERS },
    {
      operation: 'putDestination',
      about: 'Create or replace a destination; omitted fields are reset to their defaults, except credentials',
      args: ['url?'],
      flags: {
        ...FLAGS,
        name: ['--name <name>', 'Display name (default: the slug)'],
        type: ['--type <type>', `${TYPES}; cannot be changed`],
      },
      ...MEMBERS,
      done: '{name} was applied ({id})',
    },
    ...pauseRows('destination'),
    {
      operation: 'listOrderKeys',
      name: 'order-keys',
      about: "List a destination's ordering keys and their states",
      columns: {
        ...{ key: 'key', state: 'state', waiting: 'waiting', 'first delivery': 'headDeliveryId', since: 'headSince' },
        'blocked until': 'blockedUntil',
        id: 'id',
      },
    },
    { operation: 'getOrderKey', name: 'order-key', about: 'Show an ordering key (key or ID)' },
    {
      operation: 'skipOrderKey',
      name: 'skip-order-key',
      about: 'Skip the first delivery of an ordering key: cancel it if it is open, and attempt the next one',
      done: 'Skipped the first delivery of {key}; deliveries waiting: {waiting}',
    },
    {
      operation: 'releaseOrderKey',
      name: 'release-order-key',
      about: 'Release an ordering key: its waiting deliveries are sent in order, and do not block the key if they fail',
      done: 'Released {key}; deliveries waiting: {waiting}',
    },
    {
      operation: 'deleteDestination',
      about:
        'Delete a destination, cancel its open deliveries and remove it from all routes; its history is kept, and routes left without a destination are listed',
      run: deleteOne,
    },
    {
      operation: 'testDestination',
      about:
        'Test a destination: send a test webhook to an HTTP endpoint, or upload a test file to a warehouse and show its row',
      done: '{message} ({latency} ms)',
      after({ context: { output } }, { result }: { result?: { row: object } }) {
        if (!output.json && result !== undefined) output.line(cell(JSON.stringify(result.row)));
      },
    },
  ],
  leftOut: ['deleteDestinations', 'exportDestinations', 'importDestinations'],
};

async function deleteOne({ context, path: { id = '' }, named }: Call): Promise<void> {
  const emptied: Route[] = [];
  for await (const route of context.client.each('listRoutes', { destinationId: id }))
    if (route.destinationIds.length === 1) emptied.push(route);
  await context.client.deleteDestination({ id });
  showDone(context, { deleted: id, emptiedRoutes: emptied.map((route) => route.id) }, `${named} was deleted`);
  for (const route of emptied) context.output.note(withoutDestination(route));
}

/** Webhooks are still accepted and stored, so nothing else would report that they are not delivered. */
function withoutDestination({ id, name }: Route): string {
  const quoted = cell(name);
  return `Route ${quoted} (${id}) has no destination. To add one, run hookyard routes update ${id} --to <destination>; to delete the route, run hookyard routes delete ${id}`;
}

function withOptions(command: Command): Command {
  return command
    .option(
      '--header <"Name: value">',
      'Header to send with every delivery; repeatable; replaces all existing headers',
      collect,
    )
    .option('--bearer <token>', 'Bearer token to send with every delivery, or @file to read it from a file')
    .option('--max-retries <n>', 'Maximum number of retries (default: 5)');
}

function setMembers({ body, options }: Call): void {
  const { header, bearer, maxRetries } = options as { header?: string[]; bearer?: string; maxRetries?: string };
  Object.assign(body, given({ headers: header && headersOf(header) }));
  if (bearer !== undefined) Object.assign(body, { authType: 'bearer', authConfig: { token: secretOf(bearer) } });
  if (maxRetries !== undefined)
    body.retryPolicy = { ...(body.retryPolicy as object), maxRetries: integer(maxRetries, '--max-retries') };
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
