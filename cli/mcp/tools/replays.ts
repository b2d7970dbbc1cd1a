// Sending events again: counted first, then by a replay that runs in the service.
import { z } from 'zod';
import type { Client, EventReplay, EventReplayDryRun } from '../../../client/index.ts';
import { usage } from '../../errors.ts';
import { findDestination } from '../../input.ts';
import { dryRun, dryRunMembers, expectedCount, requireCount, requireFilter, untilNow } from '../counted.ts';
import { inputs, placesOf, record, records, timesOf } from '../inputs.ts';
import { tool } from '../tool.ts';

const id = z.string().min(1).max(100).describe('Id of a replay, rpl_...');

export const replayEvents = tool({
  name: 'replay_events',
  title: 'Send events again',
  description:
    'Sends stored events again, by the routes as they are now: one event, or all that the filters select. Without expectedCount it counts, and sends ' +
    'nothing; with the count of that dry run it starts a replay, which runs in the service at ratePerSecond. get_replay shows its progress, ' +
    'cancel_replay ends it. Receivers get these webhooks another time.',
  effect: 'destroys',
  input: z.strictObject({
    event: inputs.event.describe('Only this one').optional(),
    source: inputs.source,
    status: z.enum(['pending', 'delivered', 'partial', 'failed']).optional(),
    routed: z.boolean().describe('false: events that no route took').optional(),
    search: z.string().min(1).max(200).describe('A part of the payload').optional(),
    since: inputs.since,
    until: inputs.until,
    destinations: z
      .array(z.string().min(1).max(200))
      .min(1)
      .max(20)
      .describe('Only to these; names or ids. By default to all that the routes lead to')
      .optional(),
    ratePerSecond: z.int().min(1).max(1000).default(50).describe('Events a second'),
    expectedCount,
  }),
  output: z.looseObject({
    ...dryRunMembers,
    replay: z.looseObject({}).optional(),
    deliveriesCreated: z.int().optional(),
  }),
  more: 'get_replay shows the replay.',
  async run({ client }, { expectedCount: expected, destinations, ratePerSecond, event, ...filters }) {
    requireFilter({ event, ...filters }, 'event, source, status, routed, search, since and until');
    const destinationIds = destinations && (await idsOf(client, destinations));
    if (event !== undefined) {
      requireFilterAlone(filters);
      return replayOne(client, event, destinationIds, { event, ...(destinations && { destinations }) }, expected);
    }
    const until = untilNow(filters.until);
    const { status, routed, search } = filters;
    const selection = {
      ...(await placesOf(client, filters)),
      ...timesOf({ ...filters, until }),
      status,
      routed,
      search,
    };
    const { eventsTotal, eventsExpired } = await counted(client, { ...selection, destinationIds });
    if (expected === undefined) {
      const expired = eventsExpired > 0 ? `, ${eventsExpired} of them without a payload any more` : '';
      const args = { ...filters, until, ...(destinations && { destinations }), ratePerSecond };
      return dryRun(eventsTotal, `${eventsTotal} events would be sent again${expired}`, args);
    }
    requireCount(eventsTotal, expected);
    const replay = (await client.createEventReplay({
      body: { ...selection, destinationIds, ratePerSecond },
    })) as EventReplay;
    return {
      summary: `The replay ${replay.id} of ${eventsTotal} events is ${replay.status}; get_replay shows its progress.`,
      data: { dryRun: false, count: eventsTotal, replay },
    };
  },
});

type Selection = Parameters<Client['createEventReplay']>[0]['body'];

const counted = async (client: Client, selection: Selection): Promise<EventReplayDryRun> =>
  (await client.createEventReplay({ body: { ...selection, dryRun: true } })) as EventReplayDryRun;

async function idsOf(client: Client, names: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) ids.push(await findDestination(client, name));
  return ids;
}

function requireFilterAlone(filters: object): void {
  if (Object.values(filters).every((value) => value === undefined)) return;
  throw usage('Give event alone, or filters');
}

async function replayOne(
  client: Client,
  event: string,
  destinationIds: string[] | undefined,
  args: object,
  expected: number | undefined,
) {
  // That there is none is an error of its own.
  await client.getEvent({ id: event });
  if (expected === undefined) return dryRun(1, `The event ${event} would be sent again`, args);
  requireCount(1, expected);
  const { message, deliveriesCreated } = await client.replayEvent({ id: event, body: { destinationIds } });
  return { summary: `${message}.`, data: { dryRun: false, count: 1, deliveriesCreated } };
}

export const getReplay = tool({
  name: 'get_replay',
  title: 'Show the progress of a replay',
  description: 'Shows how far a replay of events is. Without an id it lists the latest replays.',
  effect: 'reads',
  input: z.strictObject({ replay: id.optional() }),
  output: z.looseObject({ replays: records('status, eventsTotal, eventsReplayed, deliveriesCreated, error, ...') }),
  more: 'Name one replay.',
  async run({ client }, { replay }) {
    const replays =
      replay === undefined
        ? (await client.listEventReplays({ pageSize: 20 })).data
        : [await client.getEventReplay({ id: replay })];
    return { summary: replays.map(progressOf).join('\n') || 'There are no replays.', data: { replays } };
  },
});

const progressOf = ({ id: its, status, eventsReplayed, eventsTotal, error }: EventReplay) =>
  `${its} is ${status}: ${eventsReplayed} of ${eventsTotal ?? 'an unknown number of'} events${error === null ? '' : ` (${error})`}`;

export const cancelReplay = tool({
  name: 'cancel_replay',
  title: 'End a replay',
  description: 'Ends a replay of events that is under way. What it has sent stays sent.',
  effect: 'destroys',
  input: z.strictObject({ replay: id }),
  output: z.looseObject({ replay: record('As it is now') }),
  more: 'get_replay shows the replay.',
  async run({ client }, { replay: its }) {
    const replay = await client.cancelEventReplay({ id: its });
    return { summary: progressOf(replay), data: { replay } };
  },
});
