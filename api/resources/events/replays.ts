// Replays of events, one or many. They count like webhooks, so they are refused like webhooks: by the limit
// `waitingDeliveries` of the organization, and by what all share.
import { z } from 'zod';
import { isId } from '../../../core/text/ids.ts';
import { plural } from '../../../core/text/plural.ts';
import { existingEventIds } from '../../../db/history/events.ts';
import {
  createReplays,
  CrowdedEventError,
  PayloadExpiredError,
  type ReplayResult,
  type TakeRoom,
  UnroutableDestinationError,
} from '../../../db/replay/replay.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { inThreads } from '../../request/threads.ts';
import { type ApiDeps, callerOf, type Context, organizationId } from '../../request/context.ts';
import { invalid, limitExceeded, UNTIL_CHANGED_SECONDS } from '../../request/errors.ts';
import { type Operation, operation } from '../../request/operation.ts';
import { count, exampleId, text, withExample } from '../values.ts';
import { eventRecords, payloadExpired } from './events.ts';

interface Replayed {
  deliveries: Parameters<ApiDeps['signals']['replayedAll']>[0];
}

/**
 * Replays for the caller's organization, in its budget of threads.
 * @throws ApiError 429 or 503 when there is no room
 */
export async function inRoom<Result extends Replayed | null>(
  ctx: Context,
  replay: (validate: ApiDeps['threads']['validate'], takeRoom: TakeRoom) => Promise<Result>,
): Promise<Result> {
  const { backlog, threads, signals } = ctx.deps;
  const { id: organizationId, limits } = callerOf(ctx).organization;
  const takeRoom: TakeRoom = (events) => backlog.takeRoomForReplay({ organizationId, limits }, events);
  const result = await inThreads(() => replay(threads.validate, takeRoom));
  signals.replayedAll(result?.deliveries ?? []);
  return result;
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
  const { deliveriesPerEvent } = limits;
  try {
    const request = { organizationId: id, eventIds, destinationIds, deliveriesPerEvent };
    return await inRoom(ctx, (...budget) => createReplays(ctx.deps.pool, request, ...budget));
  } catch (error) {
    if (error instanceof PayloadExpiredError) throw payloadExpired(error.eventId);
    if (error instanceof CrowdedEventError) {
      const what = `Nothing was replayed: the event ${error.eventId} would create more than ${plural(deliveriesPerEvent, 'delivery')}; disable some routes, or pass destinationIds`;
      throw limitExceeded('deliveriesPerEvent', what, UNTIL_CHANGED_SECONDS);
    }
    if (error instanceof UnroutableDestinationError)
      throw invalid(
        'destinationIds',
        `must contain only destinations of these events' routes, not ${error.destinationIds.join(', ')}`,
      );
    throw error;
  }
}

function describe({ deliveriesCreated, eventsUnderWay }: ReplayResult): string {
  if (deliveriesCreated === 0 && eventsUnderWay > 0)
    return 'Nothing was created: earlier deliveries are still in progress; retry or cancel them';
  if (deliveriesCreated === 0) return 'Nothing was created: no event to replay has an enabled route with a destination';
  return `${plural(deliveriesCreated, 'delivery was', 'deliveries were')} created`;
}
