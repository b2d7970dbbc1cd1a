import type { RoutePreview } from '../../client/index.ts';
import { plural } from '../../core/text/words.ts';
import { type Output, printable } from '../output.ts';
import { showDone } from '../show.ts';
import type { Resource, Row } from './operation.ts';

const FLAGS = {
  destinationIds: ['--to <destination>', 'Destination (name or ID); repeatable'],
  failoverDestinationIds: [
    '--failover <destination>',
    'Failover destination (name or ID); repeatable, up to three times, in order',
  ],
} as const;

export const routes: Resource = {
  ...{ name: 'routes', tag: 'Routes', one: 'route', about: 'Manage routes from sources to destinations' },
  rows: [
    {
      operation: 'listRoutes',
      about: 'List routes, newest first',
      columns: {
        ...{ name: 'name', id: 'id', source: 'source.name', destinations: 'destinations.name', enabled: 'enabled' },
        ...{ paused: 'paused', circuit: 'circuitState', events: 'eventsRouted' },
      },
    },
    {
      operation: 'previewRoute',
      about: 'Preview the requests that a route would send for an event, without sending them',
      args: ['eventId'],
      show: ({ context: { output } }, answer: RoutePreview) => output.result(answer, () => showPreview(output, answer)),
    },
    {
      operation: 'createRoute',
      about: 'Create a route from a source to one or more destinations',
      args: ['name'],
      flags: FLAGS,
      done: '{name} was created: {source.name} → {destinations.name} ({id})',
    },
    { operation: 'updateRoute', flags: { ...FLAGS, sourceId: null } },
    {
      operation: 'putRoute',
      about: 'Create or replace a route; omitted fields are reset to their defaults',
      flags: FLAGS,
      done: '{name} was applied ({id})',
    },
    ...pauseRows('route'),
  ],
  leftOut: ['pauseRoutes', 'deleteRoutes', 'exportRoutes', 'importRoutes'],
};

export function pauseRows(kind: 'route' | 'destination'): Row[] {
  return [
    {
      operation: kind === 'route' ? 'pauseRoute' : 'pauseDestination',
      name: 'pause',
      about: `Pause a ${kind}: hold its deliveries until it is resumed; webhooks are still accepted`,
      flags: {
        reason: ['--reason <text>', 'Reason for the pause'],
        until: ['--until <time>', 'When the pause ends automatically (ISO 8601)'],
      },
      show({ context, named }, answer: { id: string; pausedUntil: string | null }) {
        const { id, pausedUntil } = answer;
        const end = pausedUntil === null ? `; resume it with: hookyard ${kind}s resume ${id}` : ` until ${pausedUntil}`;
        showDone(context, answer, `${named} is paused${end}`);
      },
    },
    {
      operation: kind === 'route' ? 'resumeRoute' : 'resumeDestination',
      name: 'resume',
      about: `Resume a ${kind}; its held deliveries are sent in order of receipt`,
      flags: { releasePerSecond: ['--rate <n>', 'Deliveries per second (default: 50)'] },
      done: '{_} is no longer paused; its held deliveries will be sent in order of receipt, unless something else holds them',
    },
  ];
}

function showPreview(output: Output, { verdict, error, schemaErrors, content, requests }: RoutePreview): void {
  output.fields({ verdict, error: error ?? undefined });
  for (const { path, message } of schemaErrors) output.note(printable(`${path}: ${message}`));
  for (const { destinationName, enabled, request, problem } of requests) {
    output.line('');
    output.line(printable(`${destinationName}${enabled ? '' : ' (disabled; no request would be sent)'}`));
    if (problem !== null) output.line(printable(problem.message));
    if (request !== null) showRequest(output, request);
  }
  if (content === null) return;
  output.line('');
  output.line(printable(content.body));
  if (content.isCut) output.note(`Truncated: the full body is ${plural(content.bodySize, 'byte')} long`);
}

export function showRequest(
  output: Output,
  { method, url, headers }: { method: string; url: string; headers: Record<string, string> },
): void {
  output.line(printable(`${method} ${url}`));
  for (const [name, value] of Object.entries(headers))
    output.line(`${output.style('dim', printable(name))}: ${printable(value)}`);
}
