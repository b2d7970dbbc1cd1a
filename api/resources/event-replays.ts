// Replays of events chosen by the filters of the event list: counted in advance, started, watched and cancelled.
// Rules: RPL-05 to RPL-13, ERR-17, ERR-28.
import { z } from 'zod';
import { MAX_OPEN_REPLAYS, REPLAY_RATE } from '../../core/event-replay.ts';
import { Destination, EventReplay } from '../../db/entities.ts';
import {
  boundTime,
  countExpired,
  countMatching,
  createEventReplay,
  type EventSelection,
  endEventReplay,
  FilterTooBroadError,
  selectEvents,
  TooManyReplaysError,
} from '../../db/replay/event-replays.ts';
import type { EntityManager } from '../../db/orm.ts';
import { type ApiDeps, type ApiRouter, type Context, entityManager, organizationId, param } from '../context.ts';
import { ApiError, invalid, notFound } from '../errors.ts';
import { limitOf, listAnswer, pageParams } from '../pagination.ts';
import { isoTime, requireId } from '../records.ts';
import { parseChoice, parseQuery } from '../validation.ts';
import { eventFilter, eventFilterParams } from './events.ts';

const MAX_DESTINATIONS = 100;

export const createSchema = z.strictObject({
  ...eventFilterParams,
  routed: z.boolean().optional(),
  all: z.boolean().optional(),
  destinationIds: z.array(z.string()).min(1).max(MAX_DESTINATIONS).optional(),
  ratePerSecond: z.int().min(REPLAY_RATE.min).max(REPLAY_RATE.max).default(REPLAY_RATE.default),
  dryRun: z.boolean().default(false),
});
type Body = z.output<typeof createSchema>;
export const listSchema = z.object(pageParams);

export function mountEventReplays(router: ApiRouter, deps: ApiDeps): void {
  const base = '/api/organizations/:orgId/events';
  router.post(`${base}/replay`, (ctx) => create(ctx, deps));
  // Before the event's own paths: "replays" is a fixed word, not an id.
  router.get(`${base}/replays`, (ctx) => list(ctx, deps));
  router.get(`${base}/replays/:id`, (ctx) => get(ctx, deps));
  router.post(`${base}/replays/:id/cancel`, (ctx) => cancel(ctx, deps));
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseChoice(ctx, createSchema);
  requireChoice(body);
  const em = entityManager(ctx, deps);
  await requireDestinations(em, body.destinationIds ?? []);
  const selection = await selectEvents(deps.pool, organizationId(ctx), eventFilter(body));
  if (body.dryRun) {
    ctx.body = await dryRun(deps, body, selection);
    return;
  }
  const id = await store(deps, body, selection);
  ctx.body = show(await findReplay(em, id), deps);
}

/** Nobody replays everything by an empty body, or by a filter of which only the name was mistyped. */
function requireChoice({ all, ...body }: Body): void {
  const filters = Object.keys(eventFilterParams) as (keyof typeof eventFilterParams)[];
  const filtered = filters.some((name) => body[name] !== undefined);
  if (!filtered && all !== true)
    throw invalid('all', `must be true to replay every event; or give one of ${filters.join(', ')}`);
  if (filtered && all === true) throw invalid('all', 'must not be given together with filters');
}

/** Whether an event goes to them is found out when it is its turn. */
async function requireDestinations(em: EntityManager, ids: string[]): Promise<void> {
  const found = new Set((await em.find(Destination, { id: { $in: ids } }, { fields: ['id'] })).map(({ id }) => id));
  const unknown = ids.filter((id) => !found.has(id));
  if (unknown.length > 0)
    throw invalid('destinationIds', `must name existing destinations; there is no ${unknown.join(', ')}`);
}

async function dryRun({ pool }: ApiDeps, body: Body, selection: EventSelection) {
  try {
    return {
      dryRun: true,
      filter: showFilter(body),
      eventsTotal: await countMatching(pool, selection),
      eventsExpired: await countExpired(pool, selection),
    };
  } catch (error) {
    if (!(error instanceof FilterTooBroadError)) throw error;
    throw new ApiError(
      400,
      'FILTER_TOO_BROAD',
      'These events cannot be counted in time; narrow from and to, or leave search out. The replay itself would work',
    );
  }
}

async function store({ pool }: ApiDeps, body: Body, selection: EventSelection): Promise<string> {
  try {
    return await createEventReplay(pool, {
      selection,
      search: body.search ?? null,
      destinationIds: body.destinationIds ?? null,
      ratePerSecond: body.ratePerSecond,
      eventsTotal: await countIfPossible(pool, selection),
    });
  } catch (error) {
    if (!(error instanceof TooManyReplaysError)) throw error;
    throw new ApiError(
      409,
      'TOO_MANY_REPLAYS',
      `${MAX_OPEN_REPLAYS} replays are under way, which is as many as may be; wait until one has ended, or cancel one`,
    );
  }
}

/** A replay needs no count: its pages find their events step by step. */
async function countIfPossible(pool: ApiDeps['pool'], selection: EventSelection): Promise<number | null> {
  try {
    return await countMatching(pool, selection);
  } catch (error) {
    if (error instanceof FilterTooBroadError) return null;
    throw error;
  }
}

async function list(ctx: Context, deps: ApiDeps): Promise<void> {
  const query = parseQuery(ctx, listSchema);
  const [replays, total] = await entityManager(ctx, deps).findAndCount(
    EventReplay,
    {},
    { ...limitOf(query), orderBy: [{ id: 'desc' }] },
  );
  ctx.body = listAnswer(
    replays.map((replay) => show(replay, deps)),
    total,
    query,
  );
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  ctx.body = show(await findReplay(entityManager(ctx, deps), param(ctx, 'id')), deps);
}

/** Ends a replay after the page that is being made. PostgreSQL decides; its workflow is told afterwards. */
async function cancel(ctx: Context, deps: ApiDeps): Promise<void> {
  const { id } = await findReplay(entityManager(ctx, deps), param(ctx, 'id'));
  const ended = await endEventReplay(deps.pool, { organizationId: organizationId(ctx), replayId: id }, 'cancelled');
  const replay = await findReplay(entityManager(ctx, deps), id);
  if (!ended) {
    throw new ApiError(
      409,
      'INVALID_STATE',
      `The replay ${id} is ${replay.status}: it has ended already; there is nothing to cancel`,
    );
  }
  deps.signals.cancelAll([id]);
  ctx.body = show(replay, deps);
}

/** @throws ApiError 404 */
async function findReplay(em: EntityManager, id: string): Promise<EventReplay> {
  requireId('replay', 'rpl', id);
  const replay = await em.findOne(EventReplay, { id });
  if (!replay) throw notFound('replay', id);
  return replay;
}

function show(replay: EventReplay, { workflowLink }: ApiDeps) {
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
    replayedUntil: replay.startedAt ? isoTime(boundTime(replay.nextId)) : null,
    error: replay.error ?? null,
    createdAt: isoTime(replay.createdAt),
    startedAt: isoTime(replay.startedAt),
    finishedAt: isoTime(replay.finishedAt),
    // The workflow id of a replay is the replay's id.
    workflowId: replay.id,
    temporalUrl: workflowLink(replay.id),
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

/** The filters as they were given, so that one whose name was mistyped is seen to be missing. */
function showFilter({ sourceId, status, routed, from, to, search }: ShownFilter) {
  return {
    ...(sourceId && { sourceId }),
    ...(status && { status }),
    ...(typeof routed === 'boolean' && { routed }),
    ...(from && { from: from.toISOString() }),
    ...(to && { to: to.toISOString() }),
    ...(search && { search }),
  };
}
