// The pages of a replay: each is one transaction that creates deliveries and moves the replay's row on, so a crash at
// any point neither loses nor doubles an event. What goes where is found out before, because schemas may take long to
// validate: no lock and no connection waits for that. If the replay has moved on meanwhile, by another worker, nothing
// is created.
import type { BacklogRoom, Settle, WaitingOf } from '../../core/fairness/backlog-room.ts';
import { boundTime, idAfter } from '../../core/text/ids.ts';
import {
  expectedDeliveries,
  OPEN_REPLAY_STATUSES,
  type PageWaits,
  pageDeliveries,
  pageEvents,
  type ReplayProgress,
  waitsFor,
} from '../../core/delivery/event-replay.ts';
import {
  planPage,
  type EventReplayKey,
  type EventSelection,
  REPLAY_LEASE_SECONDS,
  hasPayload,
  selected,
} from './event-replays.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import {
  insertPlanned,
  type PlannedPage,
  type PlannedReplays,
  planReplays,
  type ReplayedDelivery,
  waitingByEvent,
} from './replay.ts';
import { cannotValidate, type ValidatePayload } from './targets.ts';
import { OPEN_REPLAY } from './event-replays.ts';
import { raw, sql } from '../connections/statements.ts';

// Limits of one transaction: a filter that matches few events is processed in steps well below the statement timeout.
// Payload bytes are limited where payloads are read: for `search`, and by the schemas of routes.
const MAX_SCANNED_EVENTS = 1000;
const MAX_SEARCHED_BYTES = 16 * 1024 * 1024;
const MAX_PAGE_BYTES = 32 * 1024 * 1024;
// Then it asks again, in case the rate is another one by now.
const LONGEST_REST_MS = 10_000;

export interface PageStep {
  progress: ReplayProgress;
  deliveries: ReplayedDelivery[];
  /** How long its events take at the rate of the replay, ms; absent: no page was made. */
  paceMs?: number;
  /** Why the next page was not planned; the next call plans it. */
  unplanned?: unknown;
}

interface ReplayRow extends EventSelection, Omit<ReplayProgress, 'replayedUntil' | 'restMs'> {
  nextId: string;
  destinationIds: string[] | null;
  ratePerSecond: number;
  started: boolean;
  /** Until its next page may be made, ms; null: not planned. */
  restMs: number | null;
}

const ROW = `
organization_id, status, pages, next_id, end_id, requested_at, destination_ids, rate_per_second,
started_at is not null as started, events_total, events_replayed, events_expired, events_unroutable, deliveries_created,
extract(epoch from page_at - clock_timestamp())::float8 * 1000 as rest_ms,
jsonb_strip_nulls(jsonb_build_object('sourceId', source_id, 'status', event_status, 'payloadPattern', payload_pattern,
                                      'routed', event_routed)) as filter`;

export interface PageRoom {
  deliveriesPerEvent: number;
  deliveriesPerSecond: number;
  fitting(events: readonly WaitingOf[]): ReturnType<BacklogRoom['fitting']>;
  add(waiting: WaitingOf): Settle;
}

/** @throws a database error */
export type FindRoom = (organizationId: string) => Promise<PageRoom>;

/** For calls without limits. */
const boundless: FindRoom = () =>
  Promise.resolve({
    deliveriesPerEvent: Number.POSITIVE_INFINITY,
    deliveriesPerSecond: Number.POSITIVE_INFINITY,
    fitting: ({ length }) => ({ count: length, noRoom: null }),
    add: () => () => undefined,
  });

/**
 * Creates the page with this number, or continues to search its events. An existing page is not created again. A page
 * ends before the first event that has no room in the backlog; if that is the next event of all, no page is created.
 * Nor is one before its time has come: replays of an organization take turns, so that all together keep to its rate.
 * @returns the progress of the replay: if it has fewer pages and is running, call again, later when it waits for
 * something
 * @throws a database error; nothing has changed then
 */
export async function makePage(
  pool: Pool,
  key: EventReplayKey,
  page: number,
  validate: ValidatePayload = cannotValidate,
  findRoom: FindRoom = boundless,
): Promise<PageStep> {
  const known = await loadReplay(pool, key, '');
  if (!known) return { progress: NOTHING, deliveries: [] };
  if (!isNext(known, page)) return { progress: progressOf(known), deliveries: [] };
  const room = await findRoom(known.organizationId);
  if (room.deliveriesPerSecond <= 0)
    return { progress: await wait(pool, key, { full: 'replayedPerSecond' }), deliveries: [] };
  const isPaced = Number.isFinite(room.deliveriesPerSecond);
  const rates = { events: known.ratePerSecond, deliveries: room.deliveriesPerSecond };
  const expected = expectedDeliveries(known, rates);
  if (isPaced) {
    const restMs = known.restMs ?? (await planPage(pool, key, rates.deliveries, { expected }));
    if (restMs === undefined || restMs > 0)
      return { progress: resting(await readProgress(pool, key), restMs), deliveries: [] };
  }
  const made = await createPage(pool, key, page, known, room, validate);
  const { deliveries } = made;
  if (!isPaced || deliveries.length === 0) return made;
  try {
    // Pages without deliveries since the plan make `expected` smaller than it was then: such a page may be counted
    // twice.
    const nextInMs = await planPage(pool, key, rates.deliveries, {
      expected: made.progress.status === 'running' ? expectedDeliveries(made.progress, rates) : 0,
      more: deliveries.length - expected,
    });
    return { ...made, progress: resting(made.progress, nextInMs) };
  } catch (unplanned) {
    // Failure policy: the page exists, and what it has replaced must hear of it. The next call plans.
    return { ...made, unplanned };
  }
}

async function createPage(
  pool: Pool,
  key: EventReplayKey,
  page: number,
  replay: ReplayRow,
  room: PageRoom,
  validate: ValidatePayload,
): Promise<PageStep> {
  const { organizationId, destinationIds } = replay;
  const rates = { events: replay.ratePerSecond, deliveries: room.deliveriesPerSecond };
  const found = await nextSlice(pool, replay, pageEvents(replay, rates));
  const request = { organizationId, eventIds: withPayload(found), destinationIds: destinationIds ?? undefined };
  const { deliveriesPerEvent } = room;
  const plan = await planReplays(pool, { ...request, deliveriesPerEvent }, validate);
  const { slice, planned, waiting, waits } = fitted(found, plan, room);
  if (waits !== null && slice.events.length === 0) return { progress: await wait(pool, key, waits), deliveries: [] };
  const settle = room.add(waiting);
  let made: PageStep | undefined;
  try {
    made = await inTransaction(pool, (db) => storePage(db, { key, page, from: replay.nextId }, slice, planned));
    return { ...made, paceMs: (slice.events.length * 1000) / replay.ratePerSecond };
  } finally {
    settle(made !== undefined && made.deliveries.length > 0);
  }
}

async function storePage(
  db: Queryable,
  { key, page, from }: { key: EventReplayKey; page: number; from: string },
  slice: Slice,
  planned: PlannedReplays,
): Promise<PageStep> {
  // A worker that vanishes with its machine must not keep the replay and the events locked.
  await sql(db).run`set local idle_in_transaction_session_timeout = '30s'`;
  const locked = await loadReplay(db, key, 'for update');
  if (!locked) return { progress: NOTHING, deliveries: [] };
  if (!isNext(locked, page) || locked.nextId !== from) return { progress: progressOf(locked), deliveries: [] };
  const result = await insertPlanned(db, planned);
  const tried = withPayload(slice).length;
  const moved = await move(db, key, slice, {
    replayed: result.eventsQueued,
    expired: slice.events.length - tried,
    unroutable: tried - result.eventsQueued - result.eventsUnderWay,
    deliveries: result.deliveriesCreated,
  });
  return { progress: progressOf(moved), deliveries: result.deliveries };
}

function fitted(
  slice: Slice,
  planned: PlannedPage,
  room: PageRoom,
): { slice: Slice; planned: PlannedReplays; waiting: WaitingOf; waits: PageWaits | null } {
  const events = waitingByEvent(planned);
  const deliveries = [...events.values()];
  const { count: fits, noRoom } = room.fitting(deliveries);
  const ofPage = firstWithin(
    pageDeliveries(room.deliveriesPerSecond),
    deliveries.map(({ length }) => length),
  );
  const count = Math.min(fits, ofPage);
  const waiting = deliveries.slice(0, count).flat();
  const end = [...events.keys()][count] ?? planned.crowded;
  if (end === null) return { slice, planned, waiting, waits: null };
  return {
    slice: { events: slice.events.filter(({ id }) => id < end), nextId: end, last: false },
    planned: { ...planned, targets: planned.targets.filter(({ eventId }) => eventId < end) },
    waiting,
    waits: noRoom ?? { full: 'deliveriesPerEvent', most: room.deliveriesPerEvent },
  };
}

const withPayload = ({ events }: Slice): string[] => events.filter(({ hasPayload }) => hasPayload).map(({ id }) => id);

/** Says in the replay what it waits for, until its next page. */
async function wait(db: Queryable, key: EventReplayKey, waits: PageWaits): Promise<ReplayProgress> {
  const text = waitsFor(waits);
  const rows = await sql(db).rows<ReplayRow>`
    update event_replays
    set status = 'running', waits_for = ${text}, started_at = coalesce(started_at, now()),
        due_at = now() + make_interval(secs => ${REPLAY_LEASE_SECONDS})
    where organization_id = ${key.organizationId} and id = ${key.replayId} and status in ${raw(OPEN_REPLAY)}
    returning ${raw(ROW)}`;
  return rows[0] ? { ...progressOf(rows[0]), waitsFor: text } : readProgress(db, key);
}

const isNext = ({ status, pages }: ReplayRow, page: number): boolean =>
  OPEN_REPLAY_STATUSES.includes(status) && pages < page;

export async function readProgress(db: Queryable, key: EventReplayKey): Promise<ReplayProgress> {
  const replay = await loadReplay(db, key, '');
  return replay ? progressOf(replay) : NOTHING;
}

async function loadReplay(db: Queryable, key: EventReplayKey, lock: 'for update' | ''): Promise<ReplayRow | undefined> {
  return sql(db).first<ReplayRow>`
    select ${raw(ROW)} from event_replays where organization_id = ${key.organizationId}
      and id = ${key.replayId} ${raw(lock)}`;
}

interface Slice {
  events: { id: string; hasPayload: boolean }[];
  nextId: string;
  last: boolean;
}

/** @param most events */
async function nextSlice(db: Queryable, replay: ReplayRow, most: number): Promise<Slice> {
  const { organizationId, nextId, endId, filter } = replay;
  const { sourceId = null, payloadPattern } = filter;
  const mostBytes = payloadPattern === undefined ? null : MAX_SEARCHED_BYTES;
  // End of the part of the selection for one transaction: limited in events and, for searches, in bytes, but at least
  // one event.
  const { lastId, isLast } = await sql(db).only<{ lastId: string | null; isLast: boolean }>`
    with scanned as materialized (
      select id, payload_size from events
      where organization_id = ${organizationId} and id >= ${nextId} and id < ${endId}
        and (${sourceId}::text is null or source_id = ${sourceId})
      order by id limit ${MAX_SCANNED_EVENTS}
    ), measured as (
      select id, ${mostBytes}::bigint is null
        or sum(payload_size) over (order by id) - payload_size < ${mostBytes} as inside from scanned
    )
    select max(id) filter (where inside) as last_id,
           count(*) < ${MAX_SCANNED_EVENTS} and coalesce(bool_and(inside), true) as is_last
    from measured`;
  if (lastId === null) return { events: [], nextId: endId, last: true };
  // An event is checked once, when its page is reached: one that was replayed or delivered meanwhile and no longer
  // matches is skipped. One extra row shows whether there are more.
  const range: [string, string] = [nextId, idAfter(lastId)];
  const rows = await sql(db).rows<Slice['events'][number] & { payloadSize: number }>`
    select r.id, r.payload_size, ${hasPayload(range)} as has_payload
    ${selected(replay, range)} order by r.id limit ${most + 1}`;
  const withinBytes = firstWithin(
    MAX_PAGE_BYTES,
    rows.map(({ payloadSize }) => payloadSize),
  );
  const events = rows.slice(0, Math.min(most, withinBytes));
  const lastTaken = events.at(-1);
  if (lastTaken && events.length < rows.length) return { events, nextId: idAfter(lastTaken.id), last: false };
  return { events, nextId: isLast ? endId : idAfter(lastId), last: isLast };
}

/** How many of the amounts, from the first on, are no more than `most` together; at least one. */
function firstWithin(most: number, amounts: readonly number[]): number {
  let sum = 0;
  const tooFar = amounts.findIndex((amount, index) => {
    sum += amount;
    return index > 0 && sum > most;
  });
  return tooFar === -1 ? amounts.length : tooFar;
}

async function move(
  db: Queryable,
  { organizationId, replayId }: EventReplayKey,
  { events, nextId, last }: Slice,
  counts: { replayed: number; expired: number; unroutable: number; deliveries: number },
): Promise<ReplayRow> {
  // A search without a match is not a page.
  const pages = last || events.length > 0 ? 1 : 0;
  const { replayed, expired, unroutable, deliveries } = counts;
  const moved = await sql(db).first<ReplayRow>`
    update event_replays
    set status = case when ${last} then 'completed' else 'running' end, waits_for = null, next_id = ${nextId},
        pages = pages + ${pages}, events_replayed = events_replayed + ${replayed},
        events_expired = events_expired + ${expired}, events_unroutable = events_unroutable + ${unroutable},
        deliveries_created = deliveries_created + ${deliveries},
        page_at = case when ${deliveries} = 0 then page_at end, started_at = coalesce(started_at, now()),
        finished_at = case when ${last} then now() end,
        due_at = case when not ${last} then now() + make_interval(secs => ${REPLAY_LEASE_SECONDS}) end
    where organization_id = ${organizationId} and id = ${replayId}
    returning ${raw(ROW)}`;
  if (!moved) throw new Error(`replay ${replayId} disappeared while it was locked`);
  return moved;
}

const NOTHING: ReplayProgress = {
  status: 'cancelled',
  pages: 0,
  eventsTotal: null,
  eventsReplayed: 0,
  deliveriesCreated: 0,
  eventsExpired: 0,
  eventsUnroutable: 0,
  replayedUntil: null,
};

/** @param restMs until its next page; undefined: none is planned */
function resting(progress: ReplayProgress, restMs = 0): ReplayProgress {
  const rests = progress.status === 'running' && restMs > 0;
  return { ...progress, ...(rests && { restMs: Math.min(Math.ceil(restMs), LONGEST_REST_MS) }) };
}

function progressOf(replay: ReplayRow): ReplayProgress {
  return {
    status: replay.status,
    pages: replay.pages,
    eventsTotal: replay.eventsTotal,
    eventsReplayed: replay.eventsReplayed,
    deliveriesCreated: replay.deliveriesCreated,
    eventsExpired: replay.eventsExpired,
    eventsUnroutable: replay.eventsUnroutable,
    replayedUntil: replay.started ? timeText(boundTime(replay.nextId)) : null,
  };
}

const timeText = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
