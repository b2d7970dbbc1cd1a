import { z } from 'zod';
import { EVENT_REPLAY_STATUSES, REPLAY_RATE } from '../../../core/delivery/event-replay.ts';
import { boundTime, newId } from '../../../core/text/ids.ts';
import { plural } from '../../../core/text/words.ts';
import { inTransaction } from '../../../db/connections/pool.ts';
import { Destination, EventReplay } from '../../../db/records/entities.ts';
import type { EntityManager } from '../../../db/records/orm.ts';
import {
  countExpired,
  countMatching,
  createEventReplay,
  endEventReplay,
  type EventSelection,
  selectEvents,
  TooManyReplaysError,
} from '../../../db/replay/event-replays.ts';
import { noteDryRun, noteRecords } from '../../auth/audit-trail.ts';
import { requireScope } from '../../auth/scopes.ts';
import { type ApiDeps, callerOf, entityManager, organizationId } from '../../request/context.ts';
import { ApiError, conflict, invalid, limitExceeded } from '../../request/errors.ts';
import { type Operation, operation } from '../../request/operation.ts';
import { limitOf, listAnswer, pageParams, textMember, timeParam } from '../../request/query.ts';
import { finder } from '../records.ts';
import { component, count, idOf, listOf, text, timestamp, withExample } from '../values.ts';
import { EVENT_STATUSES, eventStatus, patternOf } from './events.ts';

const filter = z
  .object({
    sourceId: z.string().optional(),
    status: eventStatus.optional(),
    routed: z.boolean().optional(),
    from: timestamp.optional(),
    to: timestamp.optional(),
    search: z.string().optional(),
  })
  .meta({ id: 'EventFilter', description: 'The parsed filters.', examples: [{ status: 'failed' }] });
const eventsTotal = withExample(count.nullable(), 12, 'The number of matching events. Null if counting took too long.');

const replayAnswer = component('EventReplay', {
  id: idOf('rpl'),
  status: withExample(z.enum(EVENT_REPLAY_STATUSES), 'running'),
  filter,
  destinationIds: z.array(idOf('dst', 'dst_wh')).nullable(),
  ratePerSecond: withExample(z.int().min(1), 50, 'Maximum number of events to replay per second.'),
  eventsTotal,
  eventsReplayed: count,
  eventsExpired: withExample(count, 0, 'The number of events whose payloads were removed.'),
  eventsUnroutable: withExample(
    count,
    0,
    'The number of events without a route, or without a route to any of the `destinationIds`.',
  ),
  deliveriesCreated: count,
  replayedUntil: timestamp.nullable().describe('All matching events received before this time have been processed.'),
  waitsFor: withExample(
    z.string().nullable(),
    null,
    'Why the replay is waiting (for example because of a full backlog). Null if not waiting.',
  ),
  error: withExample(z.string().nullable(), null),
  createdAt: timestamp,
  startedAt: timestamp.nullable(),
  finishedAt: timestamp.nullable(),
  workflowId: idOf('rpl'),
  temporalUrl: text('http://localhost:8233/namespaces/hookyard/workflows/rpl_06f3k2v8q0e7x1c5b9m4n6p8qr').nullable(),
});
const dryRunAnswer = component('EventReplayDryRun', {
  dryRun: z.literal(true),
  filter,
  eventsTotal: count,
  eventsExpired: withExample(count, 0),
});

function showReplay(replay: EventReplay, { workflowLink }: ApiDeps) {
  const { organizationId: _caller, nextId, endId: _end, sourceId, search, ...others } = replay;
  const { eventStatus: status, eventRouted: routed, receivedFrom: from, receivedTo: to, ...shown } = others;
  const replayedUntil = boundTime(nextId);
  return {
    ...shown,
    filter: showFilter({ sourceId, status, routed, from, to, search }),
    replayedUntil: replay.startedAt && replayedUntil !== null ? new Date(replayedUntil) : null,
    ...workflowLink(replay.id),
  };
}

/** The filters as they were understood, so that the user notices a mistyped name. */
const showFilter = (filters: object) =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== null && value !== undefined));

const MAX_DESTINATIONS = 100;
// A replay takes minutes.
const RETRY_AFTER_SECONDS = 60;

// The filters of the list, in the body of a request that acts on what they select.
const filterMembers = {
  sourceId: textMember,
  status: z.enum(EVENT_STATUSES).optional(),
  routed: z.boolean().optional(),
  from: timeParam,
  to: timeParam,
  search: textMember.describe('Matches part of the payload. Case-insensitive. Requires the `payloads:read` scope.'),
};
const createSchema = z.strictObject({
  ...filterMembers,
  all: z.boolean().optional(),
  destinationIds: z.array(z.string()).min(1).max(MAX_DESTINATIONS).optional(),
  ratePerSecond: z.int().min(REPLAY_RATE.min).max(REPLAY_RATE.max).default(REPLAY_RATE.default),
  dryRun: z.boolean().default(false),
});
type Body = z.output<typeof createSchema>;
const findReplay = finder(EventReplay, 'replay', 'rpl');
const base = '/api/organizations/{orgId}/events';

export const eventReplayOperations: Operation[] = [
  operation('createEventReplay', 'post', `${base}/replay`, {
    tag: 'Events',
    summary: 'Replay all events that match the filters',
    description:
      'Accepts the filters of the list of events, except `routeId` and `destinationId`; `status` takes only one value. The filters of the routes are not applied. With `dryRun`, counts the events without replaying anything.',
    body: {
      selects: true,
      schema: createSchema,
      examples: {
        count: { status: 'failed', dryRun: true },
        failed: { status: 'failed', from: '2026-11-21T00:00:00Z', ratePerSecond: 20 },
        everything: { all: true },
      },
    },
    answer: { description: 'The replay. With `dryRun`, the counts.', schema: z.union([replayAnswer, dryRunAnswer]) },
    errors: { 400: ['FILTER_TOO_BROAD'] },
    async run(ctx, { body }) {
      requireChoice(body);
      // Its count tells what payloads hold.
      if (body.search !== undefined) requireScope(ctx, 'payloads:read', 'search');
      const em = entityManager(ctx);
      await requireDestinations(em, body.destinationIds ?? []);
      const selection = await selectEvents(ctx.deps.pool, organizationId(ctx), { ...body, ...patternOf(body) });
      const { organization } = callerOf(ctx);
      const id = newId('rpl');
      if (!body.dryRun) noteRecords(ctx, [id]);
      else if (body.search === undefined) noteDryRun(ctx);
      const answer = async () => {
        if (body.dryRun) return dryRun(ctx.deps, body, selection);
        await store(ctx.deps, id, body, selection, organization.limits.runningReplays);
        return showReplay(await findReplay(em, id), ctx.deps);
      };
      // Counting what is searched for reads the payloads.
      return await (body.search === undefined
        ? answer()
        : ctx.deps.requests.run(organization, 'runningSearches', answer));
    },
  }),
  operation('listEventReplays', 'get', `${base}/replays`, {
    tag: 'Events',
    summary: 'List replays',
    query: z.object(pageParams),
    answer: { description: 'One page, newest first.', schema: listOf(replayAnswer) },
    async run(ctx, { query }) {
      const [replays, total] = await entityManager(ctx).findAndCount(
        EventReplay,
        {},
        { ...limitOf(query), orderBy: [{ id: 'desc' }] },
      );
      return listAnswer(
        replays.map((replay) => showReplay(replay, ctx.deps)),
        total,
        query,
      );
    },
  }),
  operation('getEventReplay', 'get', `${base}/replays/{id}`, {
    tag: 'Events',
    of: findReplay,
    summary: 'Get a replay',
    answer: { description: 'The replay and its progress.', schema: replayAnswer },
    run: (ctx, { record }) => showReplay(record, ctx.deps),
  }),
  operation('cancelEventReplay', 'post', `${base}/replays/{id}/cancel`, {
    tag: 'Events',
    of: findReplay,
    summary: 'Cancel a replay',
    answer: { description: 'The updated replay.', schema: replayAnswer },
    errors: { 409: ['INVALID_STATE'] },
    /** Cancels a replay after the current page. PostgreSQL decides; the workflow is signalled afterwards. */
    async run(ctx, { record: { id } }) {
      const key = { organizationId: organizationId(ctx), replayId: id };
      const ended = await inTransaction(ctx.deps.pool, (db) => endEventReplay(db, key, 'cancelled'));
      const replay = await findReplay(entityManager(ctx), id);
      if (!ended) throw conflict(`The replay ${id} cannot be cancelled: it has already ended (${replay.status})`);
      ctx.deps.signals.cancelAll([id]);
      return showReplay(replay, ctx.deps);
    },
  }),
];

/** An empty body, or a filter with a mistyped name, must not replay everything. */
function requireChoice({ all, ...body }: Body): void {
  const filters = Object.keys(filterMembers) as (keyof typeof filterMembers)[];
  const filtered = filters.some((name) => body[name] !== undefined);
  if (!filtered && all !== true)
    throw invalid('all', `must be true to replay all events; otherwise, pass at least one of ${filters.join(', ')}`);
  if (filtered && all === true) throw invalid('all', 'cannot be combined with filters; omit one or the other');
}

/** Whether an event goes to them is checked when the replay reaches it. */
async function requireDestinations(em: EntityManager, ids: string[]): Promise<void> {
  const found = new Set((await em.find(Destination, { id: { $in: ids } }, { fields: ['id'] })).map(({ id }) => id));
  const unknown = ids.filter((id) => !found.has(id));
  if (unknown.length > 0)
    throw invalid(
      'destinationIds',
      `must contain only IDs of destinations in this organization; not found: ${unknown.join(', ')}`,
    );
}

async function dryRun({ pool }: ApiDeps, body: Body, selection: EventSelection) {
  const eventsTotal = await countMatching(pool, selection);
  const eventsExpired = eventsTotal === null ? null : await countExpired(pool, selection);
  if (eventsExpired === null)
    throw new ApiError(
      400,
      'FILTER_TOO_BROAD',
      'Counting these events takes too long; choose a shorter period with "from" and "to", or omit dryRun (a replay does not need the count)',
    );
  const { sourceId, status, routed, from, to, search } = body;
  return {
    dryRun: true,
    filter: showFilter({ sourceId, status, routed, from, to, search }),
    eventsTotal,
    eventsExpired,
  };
}

async function store(
  { pool }: ApiDeps,
  id: string,
  body: Body,
  selection: EventSelection,
  most: number,
): Promise<void> {
  const replay = {
    id,
    selection,
    search: body.search ?? null,
    destinationIds: body.destinationIds ?? null,
    ratePerSecond: body.ratePerSecond,
    // Null does no harm: each page finds its own events.
    eventsTotal: await countMatching(pool, selection),
  };
  try {
    await createEventReplay(pool, replay, most);
  } catch (error) {
    if (!(error instanceof TooManyReplaysError)) throw error;
    const what = `This organization is limited to ${plural(most, 'concurrent replay')}; wait until one finishes, or cancel one`;
    throw limitExceeded('runningReplays', what, RETRY_AFTER_SECONDS);
  }
}
