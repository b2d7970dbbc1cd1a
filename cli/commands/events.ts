import type { Command } from 'commander';
import type { Client, Event, EventInFull } from '../../client/index.ts';
import { onEndRequest } from '../../core/process/end-request.ts';
import { plural } from '../../core/text/words.ts';
import { type Context, contextOf } from '../context.ts';
import { usage } from '../errors.ts';
import { trueOrFalse } from '../input.ts';
import { cell, type Output, printable } from '../output.ts';
import { findSource } from '../operations.ts';
import { type Columns, showDone, showList, showRecord, watchEvent } from '../show.ts';
import type { Call, Resource } from './operation.ts';

const SEARCH = { search: ['--search <text>', 'Text in the payload'] } as const;
const REPLAYS: Columns = {
  id: 'id',
  status: 'status',
  replayed: ({ eventsReplayed, eventsTotal }: { eventsReplayed: number; eventsTotal: number | null }) =>
    `${eventsReplayed}/${eventsTotal ?? '?'}`,
  deliveries: 'deliveriesCreated',
  started: 'createdAt',
};

export const events: Resource = {
  ...{ name: 'events', tag: 'Events', one: 'event', about: 'View, replay and delete events (accepted webhooks)' },
  rows: [
    {
      operation: 'listEvents',
      about: 'List events, newest first',
      flags: {
        ...SEARCH,
        routeId: ['--route <route>', 'Only events with a delivery from this route (name or ID)'],
        destinationId: ['--destination <destination>', 'Only events with a delivery to this destination (name or ID)'],
      },
      columns: {
        id: 'id',
        source: 'source.name',
        status: ({ routed, status }: Event) => (routed ? status : 'not routed'),
        delivered: ({ deliveriesSucceeded, deliveriesCount }: Event) => `${deliveriesSucceeded}/${deliveriesCount}`,
        bytes: 'payloadSize',
        received: 'receivedAt',
      },
    },
    {
      operation: 'getEvent',
      about: 'Show an event with its payload and deliveries',
      flags: { includePayload: null, includeDeliveries: null },
      extra: (command) => command.option('--raw', 'Print only the payload, byte for byte as received'),
      run: showEvent,
    },
    {
      operation: 'createEventReplay',
      name: 'replay',
      about: 'Replay an event, or all events that match the filters',
      flags: {
        ...SEARCH,
        destinationIds: ['--destination <destination>', 'Replay only to this destination (name or ID); repeatable'],
        all: ['--all', 'Replay all events, without filters'],
        dryRun: ['--dry-run', 'Count the events without replaying them'],
        ratePerSecond: ['--rate <n>', 'Events per second, if no event ID is passed (default: 50)'],
      },
      extra: (command) => command.argument('[id]'),
      run: replay,
    },
    {
      operation: 'listEventReplays',
      name: 'replays',
      about: 'List replays and their progress, or show a replay',
      extra: (command) => command.argument('[id]'),
      async run({ context, named, query }) {
        if (named === '') showList(context, await context.client.listEventReplays(query), REPLAYS);
        else showRecord(context, await context.client.getEventReplay({ id: named }));
      },
    },
    { operation: 'cancelEventReplay', name: 'cancel-replay', done: 'Replay {id} is {status}' },
  ],
  leftOut: ['getEventPayload', 'getEventReplay', 'replayEvent', 'replayEvents', 'streamEvents'],
  more(group) {
    group
      .command('watch <id>')
      .description("Print an event's deliveries until all have finished; exits with code 1 unless all were delivered")
      .action(async (id: string, _options, command: Command) => watchEvent(contextOf(command), id));
    group
      .command('follow')
      .description('Print events as they arrive, until Ctrl-C')
      .option('--source <source>', 'Only events from this source (slug or ID)')
      .option('--routed <boolean>', 'Only routed events (true), or only events that no route matched (false)')
      .action(async ({ source, routed }: { source?: string; routed?: string }, command: Command) => {
        const context = contextOf(command);
        const sourceId = source && (await findSource(context.client, source)).id;
        await follow(context, { sourceId, ...(routed !== undefined && { routed: trueOrFalse(routed, '--routed') }) });
      });
  },
};

async function replay(call: Call): Promise<void> {
  const { context, named: id, body } = call;
  const { client } = context;
  if (id !== '') {
    const { destinationIds, ...others } = body as { destinationIds?: string[] };
    if (Object.keys(others).length > 0)
      throw usage('An event ID cannot be combined with filters, --all, --dry-run or --rate');
    const answer = await client.replayEvent({ id, body: { destinationIds } });
    return showDone(context, answer, answer.message);
  }
  const answer = await client.createEventReplay({ body });
  if ('dryRun' in answer) {
    const { eventsTotal, eventsExpired } = answer;
    const expired = eventsExpired > 0 ? `, ${eventsExpired} skipped (payload expired)` : '';
    return showDone(context, answer, `${plural(eventsTotal - eventsExpired, 'event')} would be replayed${expired}`);
  }
  const next = `check its progress with: hookyard events replays ${answer.id}`;
  showDone(context, answer, `Replay ${answer.id} is ${answer.status}; ${next}`);
}

async function showEvent({ context: { client, output }, path: { id = '' }, options }: Call): Promise<void> {
  if (options.raw) return void process.stdout.write((await client.getEventPayload({ id })).bytes);
  const event = await showable(client, id);
  output.result(event, () => printEvent(output, event));
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

function printEvent(output: Output, event: EventInFull): void {
  const { headers, payload, deliveries = [], deliveriesNextCursor: older = null, ...fields } = event;
  output.fields(fields);
  output.line('');
  for (const [name, value] of Object.entries(headers))
    output.line(`${output.style('dim', printable(name))}: ${printable(value)}`);
  output.line('');
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2);
  output.line(payload === undefined ? 'The payload was removed by the retention policy.' : printable(text));
  if (deliveries.length === 0) return;
  output.line('');
  output.table(
    ['delivery', 'destination', 'status', 'attempts', 'code', 'error'],
    deliveries.map(({ id, destinationId, status, attemptCount, statusCode, error }) => [
      ...[id, destinationId, status, attemptCount, statusCode, error],
    ]),
  );
  if (older !== null)
    output.note(
      `There are older deliveries. List them with: hookyard deliveries list --event ${event.id} --cursor ${older}`,
    );
}

type Filter = NonNullable<Parameters<Client['streamEvents']>[0]>;

async function follow({ client, output }: Context, filter: Filter): Promise<void> {
  const end = new AbortController();
  onEndRequest(() => end.abort());
  let opened = 0;
  try {
    for await (const told of client.streamEvents(filter, { signal: end.signal })) {
      if (told.type === 'event') output.line(output.json ? JSON.stringify(told.event) : lineOf(told.event));
      else if (told.type === 'gap') output.note('Some events were missed. List all events with: hookyard events list');
      // It is opened again every minute.
      else if (opened++ === 0) output.note('Showing events as they arrive. Stop with Ctrl-C.');
    }
  } catch (error) {
    if (!end.signal.aborted) throw error;
  }
}

const lineOf = ({ receivedAt, id, source, routed, payloadSize }: Event): string =>
  [receivedAt, id, cell(source.name), plural(payloadSize, 'byte'), ...(routed ? [] : ['no route matched'])].join('  ');
