// Replays of events selected by a filter: created, counted, cancelled, and claimed by workers. event-replay-pages.ts
// creates their pages. The replays of an organization share a rate, and take turns: each plans when it may make its
// next page.
import { OPEN_REPLAY_STATUSES } from '../../core/delivery/event-replay.ts';
import { errorText } from '../../core/text/error-summary.ts';
import { boundTime, idAfter, idFloor, newId } from '../../core/text/ids.ts';
import { isStatementTimeout } from '../connections/database-errors.ts';
import { type EventFilter, eventSelection } from '../history/events.ts';
import { matches, rowsOf } from '../history/selection.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { dueInTurn, quoted } from '../sql/rules.ts';
import { allOf, fragment, type Fragment, raw, sql } from '../connections/statements.ts';

/** Of a replay that has not ended: `status in ${OPEN_REPLAY}`. */
export const OPEN_REPLAY = quoted(OPEN_REPLAY_STATUSES);

export class TooManyReplaysError extends Error {
  override readonly name = 'TooManyReplaysError';
}

export interface EventSelection {
  organizationId: string;
  filter: EventFilter;
  lowId: string;
  endId: string;
  /** Stored by then, by the clock of the database. */
  requestedAt: Date;
}

/**
 * Fixes the set of events. An id tells when the event was received; one that was received before the request and stored
 * after it (its request was slow) is excluded by its storage time.
 */
export async function selectEvents(
  db: Queryable,
  organizationId: string,
  filter: EventFilter,
): Promise<EventSelection> {
  const lowId = filter.from ? idFloor('evt', filter.from.getTime()) : 'evt_';
  const beforeId = filter.to ? idFloor('evt', filter.to.getTime() + 1) : 'evt_~';
  const { requestedAt, lastId } = await sql(db).only<{ requestedAt: Date; lastId: string | null }>`
    select clock_timestamp()::timestamptz(3) as requested_at,
           (select max(id) from events
            where organization_id = ${organizationId} and id >= ${lowId} and id < ${beforeId}) as last_id`;
  return { organizationId, filter, lowId, endId: lastId === null ? lowId : idAfter(lastId), requestedAt };
}

export function selected(
  { organizationId, filter: { status, ...filter }, requestedAt }: EventSelection,
  [low, high]: [low: string, high: string],
): Fragment {
  const selection = eventSelection(organizationId, { ...filter, ...(status !== undefined && { status: [status] }) });
  const end = boundTime(high);
  const made = { from: boundTime(low) ?? 0, to: end === null ? Infinity : end + 1 };
  const conditions = [
    fragment`r.id >= ${low} and r.id < ${high} and r.queued_at <= ${requestedAt}`,
    matches(selection),
    ...(selection.also ? [selection.also(made)] : []),
  ];
  return fragment`from ${rowsOf(selection)} where ${allOf(conditions)}`;
}

export const hasPayload = ([low, high]: [low: string, high: string]): Fragment =>
  fragment`exists (select from event_payloads kept where kept.event_id = r.id
    and kept.event_id >= ${low} and kept.event_id < ${high})`;

/** How many events of a selection match now; null when counting takes longer than a statement may. */
export function countMatching(db: Queryable, selection: EventSelection): Promise<number | null> {
  return count(db, selected(selection, [selection.lowId, selection.endId]));
}

/** How many of those have no payload any more; null likewise. */
export function countExpired(db: Queryable, selection: EventSelection): Promise<number | null> {
  const range: [string, string] = [selection.lowId, selection.endId];
  return count(db, fragment`${selected(selection, range)} and not ${hasPayload(range)}`);
}

async function count(db: Queryable, matching: Fragment): Promise<number | null> {
  try {
    return await sql(db).value<number>`select count(*) ${matching}`;
  } catch (error) {
    if (isStatementTimeout(error)) return null;
    throw error;
  }
}

export interface NewEventReplay {
  id?: string;
  selection: EventSelection;
  search: string | null;
  destinationIds: string[] | null;
  ratePerSecond: number;
  /** Null when counting took too long. */
  eventsTotal: number | null;
}

/**
 * Stores a replay; a worker finds it and starts its workflow, so a crash after this commit is harmless.
 * @param most how many the organization may have running
 * @returns its id
 * @throws TooManyReplaysError
 */
export async function createEventReplay(pool: Pool, replay: NewEventReplay, most: number): Promise<string> {
  const { id = newId('rpl'), selection, search, destinationIds, ratePerSecond, eventsTotal } = replay;
  const { organizationId, filter, lowId, endId, requestedAt } = selection;
  return inTransaction(pool, async (db) => {
    // Requests of an organization queue here, so that two cannot take the last place.
    await sql(db).run`select from organizations where id = ${organizationId} for no key update`;
    const open = await sql(db).value<number>`
      select count(*) from event_replays where organization_id = ${organizationId} and due_at is not null`;
    if (open >= most) throw new TooManyReplaysError();
    await sql(db).run`
      insert into event_replays (id, organization_id, source_id, event_status, received_from, received_to, search,
       payload_pattern, destination_ids, rate_per_second, next_id, end_id, requested_at, events_total,
                                 event_routed)
      values (${id}, ${organizationId}, ${filter.sourceId ?? null}, ${filter.status ?? null}, ${filter.from ?? null},
        ${filter.to ?? null}, ${search}, ${filter.payloadPattern ?? null}, ${destinationIds}, ${ratePerSecond},
        ${lowId}, ${endId}, ${requestedAt}, ${eventsTotal}, ${filter.routed ?? null})`;
    return id;
  });
}

export interface EventReplayKey {
  organizationId: string;
  replayId: string;
}

/**
 * Ends a running replay. Waits for a page in progress; no other page follows.
 * @param error one sentence, when it failed
 * @returns false when it has already ended
 */
export async function endEventReplay(
  db: Queryable,
  { organizationId, replayId }: EventReplayKey,
  status: 'cancelled' | 'failed',
  error: string | null = null,
): Promise<boolean> {
  return sql(db).any`
    update event_replays set status = ${status}, error = ${error && errorText(error)}, waits_for = null,
      finished_at = now(), due_at = null
    where organization_id = ${organizationId} and id = ${replayId} and status in ${raw(OPEN_REPLAY)}`;
}

/** A replay whose workflow must be checked. */
export interface DueReplay extends EventReplayKey {
  ratePerSecond: number;
  eventsTotal: number | null;
  sourceId: string | null;
}

/**
 * How long a replay may go without a new page before it is checked, in seconds; a page and the pause after it are much
 * shorter.
 */
export const REPLAY_LEASE_SECONDS = 60;

export function claimEventReplays(db: Queryable, limit: number): Promise<DueReplay[]> {
  // Rows are locked while they are claimed and moved ahead in time, so each is claimed by one worker, and comes back
  // when that worker dies before it has started the workflow. A row that is locked by its page is alive.
  return sql(db).rows<DueReplay>`
    with due as (
      select r.id from event_replays r join (${dueInTurn('event_replays', 'id', 'due_at', limit)}) w on w.id = r.id
      where r.due_at <= now() for update of r skip locked
    )
    update event_replays r set due_at = now() + make_interval(secs => ${REPLAY_LEASE_SECONDS})
    from due d where r.id = d.id
    returning r.id as replay_id, r.organization_id, r.rate_per_second, r.events_total, r.source_id`;
}

/**
 * Plans when the next page may be made, behind those of the organization's other replays.
 * @param deliveries how many it is expected to have, and how many more than was expected the page before had
 * @returns how long it is until then, ms; below 0: its time has come; undefined: the replay has ended
 */
export async function planPage(
  db: Queryable,
  key: EventReplayKey,
  deliveriesPerSecond: number,
  { expected, more = 0 }: { expected: number; more?: number },
): Promise<number | undefined> {
  // Replays of an organization queue by the time until which its rate is planned. Pages that come at the same time
  // wait for each other's row only as long as this statement takes.
  const [restMs] = await sql(db).column<number>`
    with planned as (
      update organizations
      set replays_planned_until = greatest(coalesce(replays_planned_until, now()), now())
            + make_interval(secs => ${(expected + more) / deliveriesPerSecond})
      where id = ${key.organizationId}
      returning replays_planned_until - make_interval(secs => ${expected / deliveriesPerSecond}) as at
    )
    update event_replays r
    set status = 'running', waits_for = null, started_at = coalesce(started_at, now()), page_at = planned.at,
        due_at = greatest(due_at, planned.at + make_interval(secs => ${REPLAY_LEASE_SECONDS}))
    from planned where r.organization_id = ${key.organizationId} and r.id = ${key.replayId}
      and r.status in ${raw(OPEN_REPLAY)}
    returning extract(epoch from r.page_at - clock_timestamp())::float8 * 1000 as rest_ms`;
  return restMs;
}

/** Forgets what was planned, because the organization has another rate now. */
export async function forgetPlans(db: Queryable, organizationId: string): Promise<void> {
  await sql(db).run`
    with unplanned as (
      update organizations set replays_planned_until = null where id = ${organizationId} returning id
    )
    update event_replays r set page_at = null
    from unplanned
    where r.organization_id = unplanned.id and r.status in ${raw(OPEN_REPLAY)} and r.page_at is not null`;
}
