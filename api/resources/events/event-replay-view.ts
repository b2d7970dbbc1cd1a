// Replays of events as the API shows them.
import { z } from 'zod';
import { EVENT_REPLAY_STATUSES } from '../../../core/delivery/event-replay.ts';
import type { EventReplay } from '../../../db/entities.ts';
import { boundTime } from '../../../core/text/ids.ts';
import type { ApiDeps } from '../../request/context.ts';
import { count, idOf, text, timestamp } from '../values.ts';
import { isoTime } from '../records.ts';
import { eventStatus } from './events.ts';

const filter = z
  .object({
    sourceId: z.string().optional(),
    status: eventStatus.optional(),
    routed: z.boolean().optional(),
    from: timestamp.optional(),
    to: timestamp.optional(),
    search: z.string().optional(),
  })
  .meta({ id: 'EventFilter', description: 'The filters as they were understood.', examples: [{ status: 'failed' }] });
const eventsTotal = count.nullable().meta({ description: 'Null when counting them took too long.', examples: [12] });

export const replayAnswer = z
  .object({
    id: idOf('rpl'),
    status: z.enum(EVENT_REPLAY_STATUSES).meta({ examples: ['running'] }),
    filter,
    destinationIds: z.array(idOf('dst', 'dst_wh')).nullable(),
    ratePerSecond: z
      .int()
      .min(1)
      .meta({ description: 'Events a second.', examples: [50] }),
    eventsTotal,
    eventsReplayed: count,
    eventsExpired: count.meta({ description: 'Their payload was gone.', examples: [0] }),
    eventsUnroutable: count.meta({ description: 'They go nowhere now.', examples: [0] }),
    deliveriesCreated: count,
    replayedUntil: timestamp.nullable().meta({ description: 'Events received before it have been judged.' }),
    waitsFor: z
      .string()
      .nullable()
      .meta({ description: 'Why no page can be made at the moment, such as a full backlog.', examples: [null] }),
    error: z
      .string()
      .nullable()
      .meta({ examples: [null] }),
    createdAt: timestamp,
    startedAt: timestamp.nullable(),
    finishedAt: timestamp.nullable(),
    workflowId: idOf('rpl'),
    temporalUrl: text('http://localhost:8233/namespaces/hookyard/workflows/rpl_06f3k2v8q0e7x1c5b9m4n6p8qr').nullable(),
  })
  .meta({ id: 'EventReplay' });
export const dryRunAnswer = z
  .object({
    dryRun: z.literal(true),
    filter,
    eventsTotal: count,
    eventsExpired: count.meta({ examples: [0] }),
  })
  .meta({ id: 'EventReplayDryRun' });

export function showReplay(replay: EventReplay, { workflowLink }: ApiDeps) {
  return {
    id: replay.id,
    status: replay.status,
    filter: showFilter({
      sourceId: replay.sourceId,
      status: replay.eventStatus,
      routed: replay.eventRouted,
      from: replay.receivedFrom,
      to: replay.receivedTo,
      search: replay.search,
    }),
    destinationIds: replay.destinationIds ?? null,
    ratePerSecond: replay.ratePerSecond,
    eventsTotal: replay.eventsTotal ?? null,
    eventsReplayed: replay.eventsReplayed,
    eventsExpired: replay.eventsExpired,
    eventsUnroutable: replay.eventsUnroutable,
    deliveriesCreated: replay.deliveriesCreated,
    replayedUntil: replay.startedAt ? timeOf(boundTime(replay.nextId)) : null,
    waitsFor: replay.waitsFor ?? null,
    error: replay.error ?? null,
    createdAt: isoTime(replay.createdAt),
    startedAt: isoTime(replay.startedAt),
    finishedAt: isoTime(replay.finishedAt),
    // The workflow of a replay is named by the replay's id.
    ...workflowLink(replay.id),
  };
}

interface ShownFilter {
  sourceId?: string | null;
  status?: string | null;
  routed?: boolean | null;
  from?: Date | null;
  to?: Date | null;
  search?: string | null;
}

/** The filters as they were understood, so that the user notices a mistyped name. */
export function showFilter({ sourceId, status, routed, from, to, search }: ShownFilter) {
  return {
    ...(sourceId && { sourceId }),
    ...(status && { status }),
    ...(typeof routed === 'boolean' && { routed }),
    ...(from && { from: from.toISOString() }),
    ...(to && { to: to.toISOString() }),
    ...(search && { search }),
  };
}

const timeOf = (ms: number | null) => isoTime(ms === null ? null : new Date(ms));
