// Retrying, replaying and cancelling deliveries: counted first, then so many and no more.
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Client } from '../../../client/index.ts';
import { usage } from '../../errors.ts';
import { dryRun, dryRunMembers, expectedCount, requireCount, requireFilter, untilNow } from '../counted.ts';
import { type Address, problemOf } from '../problems.ts';
import { type Call, tool } from '../tool.ts';
import { deliveryFilters, deliveryFiltersOf } from './deliveries.ts';

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

export const actOnDeliveries = tool({
  name: 'act_on_deliveries',
  title: 'Retry, replay or cancel deliveries',
  description:
    'retry: makes the next attempt of deliveries that wait for one now. replay: delivers again, as new deliveries; not what is ' +
    'under way or was replaced by a later one. cancel: makes no further attempt. ' +
    'Acts on what the filters select, the newest first. Without expectedCount it counts, and changes nothing; with the count of that dry run it ' +
    `acts, on at most ${MOST_DELIVERIES}. For more, replay_events runs in the service.`,
  effect: 'destroys',
  input: z.strictObject({
    action: z.enum(ACTIONS),
    delivery: z.string().min(1).max(100).describe('Only this one, dlv_...').optional(),
    ...deliveryFilters,
    expectedCount,
  }),
  output: z.looseObject({
    ...dryRunMembers,
    changed: z
      .int()
      .optional()
      .describe('The others had changed meanwhile, are under way, or a later delivery has replaced them'),
  }),
  more: 'list_deliveries shows the deliveries.',
  async run(call, { action, expectedCount: expected, delivery, ...filters }) {
    const names = `delivery, ${Object.keys(deliveryFilters).join(', ')}`;
    requireFilter({ delivery, ...filters }, names);
    if (delivery !== undefined) {
      if (Object.values(filters).some((value) => value !== undefined)) throw usage('Give delivery alone, or filters');
      return actOnOne(call.client, action, delivery, expected);
    }
    const until = untilNow(filters.until);
    const selection = { ...(await deliveryFiltersOf(call.client, { ...filters, until })), action };
    const { deliveriesFound: found } = await call.client.actOnDeliveries({ body: { ...selection, dryRun: true } });
    if (expected === undefined) return dryRun(found, whatOf(action, found), { action, ...filters, until });
    requireCount(found, expected);
    if (found > MOST_DELIVERIES) throw usage(`${whatOf(action, found)}. Nothing was changed`);
    const changed = await actOnAll(call, selection, found);
    return {
      summary: `${changed} of ${found} deliveries were ${DONE[action]}.`,
      data: { dryRun: false, count: found, changed },
    };
  },
});

function whatOf(action: Action, found: number): string {
  const what = `${found} deliveries would be ${DONE[action]}`;
  return found <= MOST_DELIVERIES
    ? what
    : `${what}, which is more than ${MOST_DELIVERIES}: name a shorter time, or use replay_events or retry_issue`;
}

async function actOnOne(client: Client, action: Action, id: string, expected: number | undefined) {
  const { status, destination } = await client.getDelivery({ id });
  if (expected === undefined)
    return dryRun(1, `${id} to ${destination.name}, ${status}, would be ${DONE[action]}`, { action, delivery: id });
  requireCount(1, expected);
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
    throw partly(`${changed} of ${count} deliveries were ${DONE[selection.action]}`, error, address);
  }
}

const partly = (done: string, error: unknown, address: Address) => usage(`${done}, then: ${problemOf(error, address)}`);

export const retryIssue = tool({
  name: 'retry_issue',
  title: 'Deliver again what failed because of an issue',
  description:
    'Makes new deliveries of what failed since an issue of list_failures began and was not replayed yet. Repair the cause first. Without ' +
    'expectedCount it counts, and changes nothing; with the count of that dry run it acts.',
  effect: 'destroys',
  input: z.strictObject({ issue: z.string().min(1).max(100).describe('Id of an issue, iss_...'), expectedCount }),
  output: z.looseObject({ ...dryRunMembers, created: z.int().optional().describe('New deliveries') }),
  more: 'list_deliveries shows the deliveries.',
  async run(call, { issue, expectedCount: expected }) {
    const { found } = await retrySteps(call, issue, true);
    const isTooMany = found > MOST_OF_ISSUE;
    const what = isTooMany
      ? `More than ${MOST_OF_ISSUE} deliveries failed because of it: use replay_events with the source and the time`
      : `${found} deliveries would be made again`;
    if (expected === undefined) return dryRun(found, what, { issue });
    requireCount(found, expected);
    if (isTooMany) throw usage(`${what}. Nothing was changed`);
    const { created } = await retrySteps(call, issue, false);
    return { summary: `${created} deliveries were created.`, data: { dryRun: false, count: found, created } };
  },
});

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
    throw partly(`${all.created} deliveries were created`, error, address);
  }
}
