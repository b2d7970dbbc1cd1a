// hookyard events: received events.
import type { Command } from 'commander';
import type { Client, Event, EventInFull } from '../../client/index.ts';
import { type Context, contextOf } from '../context.ts';
import { usage } from '../errors.ts';
import {
  collect,
  findDestination,
  findRoute,
  findSource,
  integer,
  pageOf,
  time,
  trueOrFalse,
  withPages,
  withParts,
  withTimes,
} from '../input.ts';
import { type Output, printable } from '../output.ts';
import { watchEvent } from '../watch.ts';
import { followEvents } from './follow.ts';
import { showDone, showPage, showRecord } from './show.ts';

type Filters = Pick<
  Parameters<Client['createEventReplay']>[0]['body'],
  'sourceId' | 'status' | 'routed' | 'from' | 'to' | 'search'
>;
interface FilterOptions {
  source?: string;
  status?: string;
  routed?: string;
  from?: string;
  to?: string;
  search?: string;
}
interface ReplayOptions extends FilterOptions {
  destination?: string[];
  all?: boolean;
  dryRun?: boolean;
  rate?: string;
}

export function addEvents(program: Command): void {
  const events = program.command('events').description('what was received');
  withParts(withFilters(events.command('list')))
    .description('list events, newest first')
    .option('--route <route>', 'events with a delivery of this route; name or id')
    .option('--destination <destination>', 'events with a delivery to this one; name or id')
    .action(async (options, command: Command) => {
      const context = contextOf(command);
      const { client } = context;
      const filters = {
        ...(await filtersOf(client, options)),
        routeId: options.route && (await findRoute(client, options.route)),
        destinationId: options.destination && (await findDestination(client, options.destination)),
      };
      const page = pageOf(options);
      const { cursor } = options;
      const answer = await (cursor === undefined
        ? client.listEvents({ ...filters, ...page })
        : client.listEvents({ ...filters, cursor, pageSize: page.pageSize }));
      showPage<Event>(context, answer, {
        id: (event) => event.id,
        source: (event) => event.source.name,
        status: (event) => (event.routed ? event.status : 'not routed'),
        delivered: (event) => `${event.deliveriesSucceeded}/${event.deliveriesCount}`,
        bytes: (event) => event.payloadSize,
        received: (event) => event.receivedAt,
      });
    });
  events
    .command('show <id>')
    .description('show one, with its payload and deliveries')
    .option('--raw', 'nothing but the payload, byte by byte as it was received')
    .action(async (id: string, options: { raw?: boolean }, command: Command) => {
      const { client, output } = contextOf(command);
      if (options.raw) {
        process.stdout.write((await client.getEventPayload({ id })).bytes);
        return;
      }
      const event = await showable(client, id);
      output.result(event, () => showEvent(output, event));
    });
  events
    .command('watch <id>')
    .description('print its deliveries until each has ended; exit code 1 if one fails')
    .action(async (id: string, _options, command: Command) => watchEvent(contextOf(command), id));
  events
    .command('follow')
    .description('print events as they arrive, until Ctrl-C')
    .option('--source <source>', 'slug or id')
    .option('--routed <boolean>', 'false: what no route took; true: the others')
    .action(async ({ source, routed }: FilterOptions, command: Command) => {
      const context = contextOf(command);
      const { sourceId } = await filtersOf(context.client, { source });
      await followEvents(context, { sourceId, routed: trueOrFalse(routed, '--routed') });
    });
  withFilters(events.command('replay [id]'))
    .description('deliver again: one event, or all events the filters select')
    .option('--destination <destination>', 'only to this one; name or id, may be repeated', collect)
    .option('--all', 'every event there is, instead of filters')
    .option('--dry-run', 'only count')
    .option('--rate <n>', 'of a replay by filters: events in a second (50)')
    .action(async (id: string | undefined, options: ReplayOptions, command: Command) => {
      const context = contextOf(command);
      if (id === undefined) await replayMany(context, options);
      else await replayOne(context, id, options);
    });
  withPages(events.command('replays [id]'))
    .description('list replays with their progress, or show one')
    .action(async (id: string | undefined, options, command: Command) => {
      const context = contextOf(command);
      if (id !== undefined) return showRecord(context, await context.client.getEventReplay({ id }));
      showPage(context, await context.client.listEventReplays(pageOf(options)), {
        id: (replay) => replay.id,
        status: (replay) => replay.status,
        replayed: (replay) => `${replay.eventsReplayed}/${replay.eventsTotal ?? '?'}`,
        deliveries: (replay) => replay.deliveriesCreated,
        started: (replay) => replay.createdAt,
      });
    });
}

function withFilters(command: Command): Command {
  return withTimes(command)
    .option('--source <source>', 'slug or id')
    .option('--status <status>', 'pending, delivered, partial or failed')
    .option('--routed <boolean>', 'false: what no route took; true: the others')
    .option('--search <text>', 'in the payload');
}

async function filtersOf(
  client: Client,
  { source, status, routed, from, to, search }: FilterOptions,
): Promise<Filters> {
  const sourceId = source && (await findSource(client, source)).id;
  const times = { from: time(from), to: time(to) };
  return { sourceId, status: status as Filters['status'], routed: trueOrFalse(routed, '--routed'), ...times, search };
}

async function destinationIds(client: Client, names: string[] | undefined): Promise<{ destinationIds?: string[] }> {
  if (!names) return {};
  const ids: string[] = [];
  for (const name of names) ids.push(await findDestination(client, name));
  return { destinationIds: ids };
}

async function replayOne(context: Context, id: string, options: ReplayOptions): Promise<void> {
  const { destination, ...others } = options;
  const [other] = Object.keys(others);
  if (other)
    throw usage('An id replays that event; filters, --all, --dry-run and --rate are for replays without an id');
  const answer = await context.client.replayEvent({ id, body: await destinationIds(context.client, destination) });
  showDone(context, answer, answer.message);
}

async function replayMany(context: Context, options: ReplayOptions): Promise<void> {
  const { client } = context;
  const body = {
    ...(await filtersOf(client, options)),
    ...(await destinationIds(client, options.destination)),
    all: options.all,
    dryRun: options.dryRun,
    ratePerSecond: integer(options.rate, '--rate'),
  };
  const answer = await client.createEventReplay({ body });
  if ('dryRun' in answer) {
    const expired = answer.eventsExpired > 0 ? `, ${answer.eventsExpired} of them without a payload any more` : '';
    const events = answer.eventsTotal === 1 ? '1 event' : `${answer.eventsTotal} events`;
    showDone(context, answer, `${events} would be replayed${expired}`);
  } else
    showDone(
      context,
      answer,
      `The replay ${answer.id} is ${answer.status}; hookyard events replays ${answer.id} tells how far it is`,
    );
}

/** The payload, unless the retention has removed it; then the rest is shown all the same. */
async function showable(client: Client, id: string): Promise<EventInFull> {
  try {
    return await client.getEvent({ id, includePayload: true, includeDeliveries: true });
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'PAYLOAD_EXPIRED') throw error;
    return client.getEvent({ id, includeDeliveries: true });
  }
}

function showEvent(output: Output, event: EventInFull): void {
  const { headers, payload, deliveries = [], deliveriesNextCursor: older = null, ...fields } = event;
  output.fields(fields);
  output.line('');
  for (const [name, value] of Object.entries(headers))
    output.line(`${output.style('dim', printable(name))}: ${printable(value)}`);
  output.line('');
  output.line(payload === undefined ? 'The payload is no longer kept.' : printable(prettyPayload(payload)));
  if (deliveries.length === 0) return;
  output.line('');
  output.table(
    ['delivery', 'destination', 'status', 'attempts', 'code', 'error'],
    deliveries.map(({ id, destinationId, status, attemptCount, statusCode, error }) => [
      id,
      destinationId,
      status,
      attemptCount,
      statusCode,
      error,
    ]),
  );
  if (older !== null)
    output.note(`There are older ones: hookyard deliveries list --event ${event.id} --cursor ${older}`);
}

function prettyPayload(payload: unknown): string {
  return typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2);
}
