// Replays of events, one or many. They count like webhooks, so they are refused like webhooks: by the limit
// `waitingDeliveries` of the organization, and by what all share.
import { z } from 'zod';
import { isId } from '../../../core/text/ids.ts';
import { plural } from '../../../core/text/words.ts';
import { existingEventIds } from '../../../db/history/events.ts';
import {
  CannotReplayError,
  createReplays,
  type ReplayObstacle,
  type ReplayResult,
  type TakeRoom,
} from '../../../db/replay/replay.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { inThreads } from '../../request/threads.ts';
import { type ApiDeps, callerOf, type Context, organizationId } from '../../request/context.ts';
import { type ApiError, invalid, limitExceeded, UNTIL_CHANGED_SECONDS } from '../../request/errors.ts';
import { type Operation, operation } from '../../request/operation.ts';
import { count, exampleId, text, withExample } from '../values.ts';
import { eventRecords, payloadExpired } from './events.ts';

interface Replayed {
  deliveries: Parameters<ApiDeps['signals']['replayedAll']>[0];
}

/**
 * Replays for the caller's organization, in its budget of threads.
 * @throws ApiError 400, 410, and 429 or 503 when there is no room; CannotReplayError for a delivery that was replaced
 */
export async function inRoom<Result extends Replayed | null>(
  ctx: Context,
  replay: (validate: ApiDeps['threads']['validate'], takeRoom: TakeRoom) => Promise<Result>,
): Promise<Result> {
  const { backlog, threads, signals } = ctx.deps;
  const { id: organizationId, limits } = callerOf(ctx).organization;
  const takeRoom: TakeRoom = (events) => backlog.takeRoomForReplay({ organizationId, limits }, events);
  try {
    const result = await inThreads(() => replay(threads.validate, takeRoom));
    signals.replayedAll(result?.deliveries ?? []);
    return result;
  } catch (error) {
    // Who replays a delivery knows what to say of one that was replaced.
    if (!(error instanceof CannotReplayError) || error.why.is === 'replaced') throw error;
    throw refusalOf(error.why, limits.deliveriesPerEvent);
  }
}

function refusalOf(why: Exclude<ReplayObstacle, { is: 'replaced' }>, most: number): ApiError {
  switch (why.is) {
    case 'expired':
      return payloadExpired(why.eventId);
    case 'crowded': {
      const what = `Nothing was replayed: a replay of the event ${why.eventId} would create more than ${plural(most, 'delivery')}; disable some routes, or pass destinationIds`;
      return limitExceeded('deliveriesPerEvent', what, UNTIL_CHANGED_SECONDS);
    }
    case 'unroutable': {
      const unroutable = why.destinationIds.join(', ');
      return invalid(
        'destinationIds',
        `must contain only destinations of a replayed event's enabled routes or earlier deliveries, not ${unroutable}`,
      );
    }
  }
}

const MAX_IDS = 100;
const ids = z.array(z.string()).min(1).max(MAX_IDS);
const base = '/api/organizations/{orgId}/events';
const created = { message: text('1 delivery was created'), deliveriesCreated: withExample(count, 1) };

export const replayOperations: Operation[] = [
  operation('replayEvent', 'post', `${base}/{id}/replay`, {
    tag: 'Events',
    of: eventRecords,
    summary: 'Replay an event',
    description: 'Route filters are not applied. Destinations with a delivery in progress are skipped.',
    body: {
      selects: true,
      schema: z.strictObject({ destinationIds: ids.optional() }),
      optional: true,
      examples: { everywhere: {}, 'to one destination': { destinationIds: [exampleId('dst')] } },
    },
    answer: { description: 'The number of new deliveries.', schema: z.object(created) },
    errors: { 410: ['PAYLOAD_EXPIRED'] },
    async run(ctx, { body: { destinationIds }, record: { id } }) {
      const result = await create(ctx, [id], destinationIds);
      return { message: describe(result), deliveriesCreated: result.deliveriesCreated };
    },
  }),
  operation('replayEvents', 'post', `${base}/bulk/replay`, {
    tag: 'Events',
    summary: 'Replay up to 100 events',
    description: 'Route filters are not applied. Unknown IDs and destinations with a delivery in progress are skipped.',
    body: {
      selects: true,
      schema: z.strictObject({ eventIds: ids, destinationIds: ids.optional() }),
      examples: { one: { eventIds: [exampleId('evt')] } },
    },
    answer: {
      description: 'The numbers of replayed events and new deliveries.',
      schema: z.object({ ...created, eventsQueued: withExample(count, 1) }),
    },
    errors: { 410: ['PAYLOAD_EXPIRED'] },
    async run(ctx, { body: { eventIds, destinationIds } }) {
      const known = eventIds.filter((id) => isId('evt', id));
      const existing = await existingEventIds(ctx.deps.pool, organizationId(ctx), known);
      const result = await create(ctx, existing, destinationIds);
      const { deliveriesCreated, eventsQueued } = result;
      return { message: describe(result), eventsQueued, deliveriesCreated };
    },
  }),
];

async function create(ctx: Context, eventIds: string[], destinationIds: string[] | undefined): Promise<ReplayResult> {
  noteRecords(ctx, eventIds);
  if (eventIds.length === 0) return { eventsQueued: 0, eventsUnderWay: 0, deliveriesCreated: 0, deliveries: [] };
  const { id, limits } = callerOf(ctx).organization;
  const request = { organizationId: id, eventIds, destinationIds, deliveriesPerEvent: limits.deliveriesPerEvent };
  return inRoom(ctx, (...budget) => createReplays(ctx.deps.pool, request, ...budget));
}

function describe({ deliveriesCreated, eventsUnderWay }: ReplayResult): string {
  if (deliveriesCreated === 0 && eventsUnderWay > 0)
    return 'Nothing was created: earlier deliveries are still in progress; retry or cancel them';
  if (deliveriesCreated === 0)
    return 'Nothing was created: no event was found that has an enabled route with a destination';
  return `${plural(deliveriesCreated, 'delivery was', 'deliveries were')} created`;
}
