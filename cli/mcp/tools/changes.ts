// Tools that change many records at once count first. The call that acts must name what the dry run counted: what
// matches may have changed since, and a filter may mean more than was meant.
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Client, EventReplay, EventReplayDryRun } from '../../../client/index.ts';
import { plural, pluralOf } from '../../../core/text/words.ts';
import { usage } from '../../errors.ts';
import { findId } from '../../operations.ts';
import { inputs, inputsOf, membersOf, type Call, problemOf, tool } from '../tool.ts';

const ACTIONS = ['retry', 'replay', 'cancel'] as const;
type Action = (typeof ACTIONS)[number];
const DONE: Record<Action, string> = { retry: 'retried', replay: 'replayed', cancel: 'cancelled' };

/** Of one call of the tool: a client waits about a minute. */
const MOST_DELIVERIES = 1000;
/** Of one call of the API, and in one second: destinations have other work, too. */
const STEP = 100;
const STEP_MS = 1000;
/** Of one retry of an issue, in steps of a thousand. */
const MOST_OF_ISSUE = 5000;

const UNCHANGED = 'Nothing was changed.';

const expectedCount = z
  .int()
  .min(0)
  .describe(
    'Number of matches that the dry run counted. The tool acts only if this number has not changed. Omit it for a dry run.',
  )
  .optional();

/**
 * What a dry run answers.
 * @param args of the call that acts; `until` is fixed, so that what comes later does not change the count. Null when
 * more match than the tool acts on: that call would be refused
 */
function dryRun(count: number, what: string, args: object | null) {
  if (count === 0) return { summary: `No matches. ${UNCHANGED}`, data: { dryRun: true, count } };
  if (args === null) return { summary: `${what}. ${UNCHANGED}`, data: { dryRun: true, count } };
  const next = { ...args, expectedCount: count };
  const how = `To proceed, call this tool again with ${JSON.stringify(next)} after the user has agreed.`;
  return { summary: `${what}. ${UNCHANGED} ${how}`, data: { dryRun: true, count, next } };
}

function requireCount(found: number, expected: number, one: 'delivery' | 'event'): void {
  if (found === expected) return;
  throw usage(
    `${plural(found, `${one} matches`, `${pluralOf(one)} match`)} now, not ${expected}. ${UNCHANGED} To count again, call this tool with the same parameters, ` +
      'but without expectedCount.',
  );
}

const isNone = (filters: object): boolean => Object.values(filters).every((value) => value === undefined);

/** @throws CliError unless there is one record, or a filter @param one its name */
function requireOneOf(one: string, record: string | undefined, filters: object, all: object): void {
  if (record === undefined && isNone(filters))
    throw usage(`Pass at least one of these parameters: ${[one, ...Object.keys(all)].join(', ')}`);
  if (record !== undefined && !isNone(filters)) throw usage(`Pass either "${one}" or filters`);
}

const deliveryFilters = inputsOf('actOnDeliveries', ['action', 'lane']);

export const actOnDeliveries = tool({
  name: 'act_on_deliveries',
  title: 'Retry, replay or cancel deliveries',
  description:
    'retry: immediately starts the next attempt of deliveries that are waiting for a retry. replay: creates new deliveries of the same events, but ' +
    'skips deliveries that are in progress or have already been replayed. cancel: cancels open deliveries; no further attempts are made. ' +
    `Acts on all deliveries that match the filters, newest first, or on none if more than ${MOST_DELIVERIES} match. Without expectedCount, it only counts them; with ` +
    'the count from that dry run, it acts on them and returns how many it changed. To replay more, use replay_events, which runs in the service.',
  effect: 'destroys',
  input: z.strictObject({
    ...deliveryFilters,
    until: inputs.until,
    action: z.enum(ACTIONS),
    delivery: z.string().min(1).max(100).describe('ID of a single delivery to act on (dlv_...)').optional(),
    expectedCount,
  }),
  more: 'Use list_deliveries to see the deliveries.',
  async run(call, { action, expectedCount: expected, delivery, ...filters }) {
    requireOneOf('delivery', delivery, filters, deliveryFilters);
    if (delivery !== undefined) return actOnOne(call.client, action, delivery, expected);
    const until = filters.until ?? new Date().toISOString();
    const selection = { ...(await membersOf(call.client, { ...filters, until })), action };
    const { deliveriesFound: found } = await call.client.actOnDeliveries({ body: { ...selection, dryRun: true } });
    const isTooMany = found > MOST_DELIVERIES;
    if (expected === undefined)
      return dryRun(found, whatOf(action, found), isTooMany ? null : { action, ...filters, until });
    requireCount(found, expected, 'delivery');
    if (isTooMany) throw usage(`${whatOf(action, found)}. ${UNCHANGED}`);
    const changed = await actOnAll(call, selection, found);
    const summary = `${changed} of ${plural(found, 'delivery')} ${DONE[action]}.`;
    return { summary, data: { dryRun: false, count: found, changed } };
  },
});

function whatOf(action: Action, found: number): string {
  const what = `${action === 'replay' ? 'Up to ' : ''}${plural(found, 'delivery')} would be ${DONE[action]}`;
  if (found <= MOST_DELIVERIES) return what;
  const other = action === 'replay' ? ', or use replay_events or retry_issue' : '';
  return `${what}, which is more than this tool's maximum (${MOST_DELIVERIES}). Pass a shorter time range${other}`;
}

async function actOnOne(client: Client, action: Action, id: string, expected: number | undefined) {
  const { status, destination } = await client.getDelivery({ id });
  if (expected === undefined)
    return dryRun(1, `${id} to ${destination.name}, ${status}, would be ${DONE[action]}`, { action, delivery: id });
  requireCount(1, expected, 'delivery');
  const summary = await ACT_ON_ONE[action](client, id);
  return { summary, data: { dryRun: false, count: 1, changed: 1 } };
}

const ACT_ON_ONE: Record<Action, (client: Client, id: string) => Promise<string>> = {
  retry: async (client, id) => (await client.retryDelivery({ id })).message,
  replay: async (client, id) => (await client.replayDelivery({ id })).message,
  cancel: async (client, id) => `${id} is ${(await client.cancelDelivery({ id })).status}`,
};

type Selection = Omit<Parameters<Client['actOnDeliveries']>[0]['body'], 'cursor' | 'limit' | 'dryRun'>;

/** Never on more than were counted: deliveries that match since then may be among them, in the place of others. */
async function actOnAll({ client, address, signal }: Call, selection: Selection, count: number): Promise<number> {
  let [left, changed] = [count, 0];
  let cursor: string | null = 'first';
  try {
    while (cursor !== null && left > 0) {
      const began = performance.now();
      const body = { ...selection, cursor, limit: Math.min(STEP, left) };
      const answer: Awaited<ReturnType<Client['actOnDeliveries']>> = await client.actOnDeliveries({ body }, { signal });
      left -= answer.deliveriesFound;
      changed += answer.deliveriesChanged;
      cursor = answer.nextCursor;
      if (cursor !== null && left > 0)
        await delay(Math.max(0, STEP_MS - (performance.now() - began)), null, { signal });
    }
    return changed;
  } catch (error) {
    throw usage(
      `${changed} of ${plural(count, 'delivery')} ${DONE[selection.action]} before this error: ${problemOf(error, address)}`,
    );
  }
}

export const retryIssue = tool({
  name: 'retry_issue',
  title: "Replay an issue's failed deliveries",
  description:
    "Replays an issue's deliveries that have failed since its firstSeenAt (see list_failures) and have not been replayed yet. Fix the cause first. Without " +
    'expectedCount, it only counts them; with the count from that dry run, it replays them.',
  effect: 'destroys',
  input: z.strictObject({ issue: z.string().min(1).max(100).describe('Issue ID (iss_...)'), expectedCount }),
  more: 'Use list_deliveries to see the deliveries.',
  async run(call, { issue, expectedCount: expected }) {
    const { found } = await retrySteps(call, issue, true);
    const isTooMany = found > MOST_OF_ISSUE;
    const what = isTooMany
      ? `The issue has more failed deliveries than this tool's maximum (${MOST_OF_ISSUE}). Use replay_events with the issue's source and a time range`
      : `${plural(found, 'delivery')} would be replayed, provided that ${found === 1 ? 'its payload and destination' : 'their payloads and destinations'} still exist`;
    if (expected === undefined) return dryRun(found, what, isTooMany ? null : { issue });
    requireCount(found, expected, 'delivery');
    if (isTooMany) throw usage(`${what}. ${UNCHANGED}`);
    const { created } = await retrySteps(call, issue, false);
    return { summary: `${createdText(created)}.`, data: { dryRun: false, count: found, created } };
  },
});

const createdText = (created: number): string => `${plural(created, 'delivery was', 'deliveries were')} created`;

async function retrySteps({ client, address, signal }: Call, id: string, isDryRun: boolean) {
  const all = { found: 0, created: 0 };
  let before: string | null | undefined;
  try {
    do {
      const body = { dryRun: isDryRun, ...(before && { before }) };
      const step = await client.retryIssue({ id, body }, { signal });
      all.found += step.deliveriesFound;
      all.created += step.deliveriesCreated;
      before = step.next;
    } while (before !== null && all.found <= MOST_OF_ISSUE);
    return all;
  } catch (error) {
    if (all.created === 0) throw error;
    throw usage(`${createdText(all.created)} before this error: ${problemOf(error, address)}`);
  }
}

const eventFilters = inputsOf('createEventReplay', ['all', 'destinationIds', 'ratePerSecond']);

export const replayEvents = tool({
  name: 'replay_events',
  title: 'Replay events',
  description:
    'Replays one stored event, or all stored events that match the filters passed here, through the enabled routes of their sources, or to destinations that they were sent to before; the filters of the routes are not applied. Without expectedCount, it only counts ' +
    'them; with the count from that dry run, it starts a replay, which runs in the service at ratePerSecond. Use get_replay to see its progress, ' +
    'and cancel_replay to cancel it. Destinations receive these events again.',
  effect: 'destroys',
  input: z.strictObject({
    ...eventFilters,
    until: inputs.until,
    event: inputs.event.describe('ID of a single event to replay (evt_...)').optional(),
    destinations: z
      .array(z.string().min(1).max(200))
      .min(1)
      .max(20)
      .describe(
        "Names or IDs of the destinations to replay to (default: all destinations of the sources' enabled routes)",
      )
      .optional(),
    ratePerSecond: z.int().min(1).max(1000).default(50).describe('Events per second'),
    expectedCount,
  }),
  more: 'Use get_replay to see the replay.',
  async run({ client }, { expectedCount: expected, destinations, ratePerSecond, event, ...filters }) {
    requireOneOf('event', event, filters, eventFilters);
    const destinationIds =
      destinations && (await Promise.all(destinations.map((name) => findId(client, 'destination', name))));
    const given = destinations && { destinations };
    if (event !== undefined) return replayOne(client, event, destinationIds, { event, ...given }, expected);
    const until = filters.until ?? new Date().toISOString();
    const selection = { ...(await membersOf(client, { ...filters, until })), destinationIds };
    const counted = await client.createEventReplay({ body: { ...selection, dryRun: true } });
    const { eventsTotal: count, eventsExpired } = counted as EventReplayDryRun;
    if (expected === undefined) {
      const expired = eventsExpired > 0 ? `, ${eventsExpired} skipped (payload expired)` : '';
      const next = { ...filters, until, ...given, ratePerSecond };
      return dryRun(count, `${plural(count - eventsExpired, 'event')} would be replayed${expired}`, next);
    }
    requireCount(count, expected, 'event');
    const replay = (await client.createEventReplay({ body: { ...selection, ratePerSecond } })) as EventReplay;
    return {
      summary: `Replay ${replay.id} is ${replay.status}. Use get_replay to see its progress.`,
      data: { dryRun: false, count, replay },
    };
  },
});

async function replayOne(
  client: Client,
  event: string,
  destinationIds: string[] | undefined,
  args: object,
  expected: number | undefined,
) {
  // That there is none is an error of its own.
  await client.getEvent({ id: event });
  if (expected === undefined) return dryRun(1, `Event ${event} would be replayed`, args);
  requireCount(1, expected, 'event');
  const { message, deliveriesCreated } = await client.replayEvent({ id: event, body: { destinationIds } });
  return { summary: `${message}.`, data: { dryRun: false, count: 1, deliveriesCreated } };
}
