// Replays: new deliveries of events that are already stored.
// Rules: EVT-15, RPL-03, RPL-04.
import { newId, shardOf } from '../../core/ids.ts';
import type { Reservation } from '../../core/reservations.ts';
import { bounds, jsonParameter } from '../parameters.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { noticesFor } from '../reconciliation/reconciliation.ts';
import { JOIN_LISTS, OPEN, toOutbox, WAKE_RELAYS } from '../sql-rules.ts';
import { cannotValidate, findMismatches, type MismatchOf, type ValidatePayload } from './replay-schemas.ts';
import { countEndings } from '../delivery/count-figures.ts';
import { countUnsent } from '../delivery/unsent.ts';
import { findTargets, type ReplayRequest, type Target, targetsAgain } from './targets.ts';

/** The payload of an event was removed by the retention, so it cannot be sent again. */
export class PayloadExpiredError extends Error {
  override readonly name = 'PayloadExpiredError';
  readonly eventId: string;
  constructor(eventId: string) {
    super(`The payload of event ${eventId} was removed by the retention policy`);
    this.eventId = eventId;
  }
}

/** An event neither goes nor went to a requested destination. */
export class UnroutableDestinationError extends Error {
  override readonly name = 'UnroutableDestinationError';
  readonly destinationIds: string[];
  constructor(destinationIds: string[]) {
    super(`No route sends these events to ${destinationIds.join(', ')}`);
    this.destinationIds = destinationIds;
  }
}

/** An event leads to more deliveries than one may have. */
export class CrowdedEventError extends Error {
  override readonly name = 'CrowdedEventError';
  readonly eventId: string;
  constructor(eventId: string) {
    super(`Too many routes lead the event ${eventId} to destinations`);
    this.eventId = eventId;
  }
}

export interface ReplayResult {
  /** Events of which there is a new delivery. */
  eventsQueued: number;
  deliveriesCreated: number;
  deliveries: ReplayedDelivery[];
}

/** A new delivery. */
export interface ReplayedDelivery {
  id: string;
  /** The failed delivery that it replaces, whose workflow may still wait for this replay; else null. */
  replacesFailed: string | null;
}

const SCHEMA_FAILED = `status = 'schema_failed'`;

// The event's row lock (taken by `totals`) orders a replay against results of the same event. A finished delivery that is
// replayed stops counting and its successor counts instead; an open one continues and both count. `|| ''` keeps the joins from
// pruning partitions (hot-path/record-results.ts).
const CREATE = `
with input as (
  select * from json_to_recordset($1::json) as i(id text, organization_id text, event_id text, source_id text, route_id text,
    route_version int, transform_version int, destination_id text, priority int, shard int, status text, replay_of text, error text,
    failover_of text, original_destination_id text, failover_reason text)
), locked as (
  select id from events where id = any($4::text[]) and id between $5 and $6 order by id for update
), superseded as (
  update deliveries d set counted = false
  from input i, locked l
  where d.id || '' = i.replay_of and l.id = d.event_id and d.id = any($7::text[]) and d.id between $2 and $3 and i.status <> 'skipped'
    and d.counted and d.status not in ${OPEN}
  returning d.id, d.event_id, d.status
), created as (
  insert into deliveries (id, organization_id, event_id, source_id, route_id, route_version, transform_version, destination_id, priority,
                          status, counted, replay_of, error, finished_at, failover_of, original_destination_id, failover_reason)
  select i.id, organization_id, event_id, source_id, route_id, route_version, transform_version, destination_id, priority,
         status, status <> 'skipped', replay_of, error, case when status <> 'pending' then now() end, failover_of, original_destination_id, failover_reason
  from input i join locked l on l.id = i.event_id
  returning id, organization_id, event_id, source_id, status, destination_id, route_id
), ${countUnsent('created', SCHEMA_FAILED)}, ${countEndings('created', { not_sent: SCHEMA_FAILED })}, queued as (
  ${toOutbox('i', { delivery_id: 'i.id', failover_of: 'i.failover_of' })}
  from input i join created c on c.id = i.id where i.status = 'pending'
), change as (
  select event_id, sum(added)::int as added, sum(succeeded)::int as succeeded, sum(failed)::int as failed from (
    select event_id, 1 as added, 0 as succeeded, (status = 'schema_failed')::int as failed from created where status <> 'skipped'
    union all
    select event_id, -1, -(status = 'delivered')::int, -(status <> 'delivered')::int from superseded
  ) changes group by event_id
), totals as (
  update events e
  set deliveries_count = e.deliveries_count + c.added, deliveries_succeeded = e.deliveries_succeeded + c.succeeded,
      deliveries_failed = e.deliveries_failed + c.failed, routed = true,
      status = event_status(e.deliveries_count + c.added, e.deliveries_succeeded + c.succeeded, e.deliveries_failed + c.failed)
  from change c where e.id || '' = c.event_id and e.id = any($4::text[]) and e.id between $5 and $6
)
select c.id, c.event_id, s.id as "replacesFailed"
from created c join input i on i.id = c.id left join superseded s on s.id = i.replay_of and s.status = 'failed'`;

/** A delivery that a replay will create. */
export interface PlannedDelivery {
  eventId: string;
  destinationId: string;
  /** Whether it will wait. */
  waits: boolean;
}

/** Counts deliveries that are about to be created. @throws an error of the caller's when there is no room for them */
export type TakeRoom = (deliveries: readonly PlannedDelivery[]) => Reservation;

const ROOM: Reservation = { keep: () => undefined, release: () => undefined };
/** For a single delivery in the place of a failed one. */
const alwaysRoom: TakeRoom = () => ROOM;

/**
 * Creates new deliveries of stored events, by the current routes.
 * @throws PayloadExpiredError when one of the events has no payload any more
 * @throws UnroutableDestinationError when a requested destination gets none of these events
 * @throws CrowdedEventError when one of them leads to too many deliveries
 */
export async function createReplays(
  pool: Pool,
  request: ReplayRequest,
  validate: ValidatePayload = cannotValidate,
  takeRoom: TakeRoom = alwaysRoom,
): Promise<ReplayResult> {
  await requirePayloads(pool, request);
  const { targets, crowded } = await findTargets(pool, request);
  if (crowded !== null) throw new CrowdedEventError(crowded);
  const reachable = new Set(targets.map((target) => target.destinationId));
  const unroutable = (request.destinationIds ?? []).filter((id) => !reachable.has(id));
  if (unroutable.length > 0 && request.eventIds.length > 0) throw new UnroutableDestinationError(unroutable);
  // Before the transaction: no connection waits for a validation.
  const mismatchOf = await findMismatches(pool, request.organizationId, targets, validate);
  return store(pool, { organizationId: request.organizationId, targets, mismatchOf }, takeRoom);
}

/** What a replay will create. */
export interface PlannedReplays {
  organizationId: string;
  targets: Target[];
  mismatchOf: MismatchOf;
}

/** What a page of a replay will create, at most. */
export interface PlannedPage extends PlannedReplays {
  /** The first event that leads to too many deliveries; those from it on are left out. */
  crowded: string | null;
}

/** The deliveries in the order of their events. */
export function plannedDeliveries({ targets, mismatchOf }: PlannedReplays): PlannedDelivery[] {
  return targets.map((target) => ({
    eventId: target.eventId,
    destinationId: target.destinationId,
    waits: stateOf(target, mismatchOf(target)).status === 'pending',
  }));
}

/** The deliveries that will wait, by event and in that order; of an event without any there is an empty list. */
export function waitingByEvent(deliveries: readonly PlannedDelivery[]): Map<string, PlannedDelivery[]> {
  const events = new Map<string, PlannedDelivery[]>();
  for (const delivery of deliveries) {
    const waiting = events.get(delivery.eventId) ?? [];
    events.set(delivery.eventId, waiting);
    if (delivery.waits) waiting.push(delivery);
  }
  return events;
}

async function store(pool: Pool, planned: PlannedReplays, takeRoom: TakeRoom): Promise<ReplayResult> {
  const place = takeRoom(plannedDeliveries(planned));
  try {
    const result = await inTransaction(pool, (db) => insertPlanned(db, planned));
    place.keep();
    return result;
  } catch (error) {
    place.release(false);
    throw error;
  }
}

/**
 * Plans replays of events that have their payloads; those without a target are skipped. Outside of a transaction: a validation
 * may take long.
 */
export async function planReplays(pool: Pool, request: ReplayRequest, validate: ValidatePayload): Promise<PlannedPage> {
  const { organizationId } = request;
  const { targets, crowded } = await findTargets(pool, request);
  const mismatchOf = await findMismatches(pool, organizationId, targets, validate);
  return { organizationId, targets, mismatchOf, crowded };
}

/** Only what belongs to events before this one. */
export function cutBefore(planned: PlannedReplays, eventId: string): PlannedReplays {
  return { ...planned, targets: planned.targets.filter((target) => target.eventId < eventId) };
}

/**
 * Creates one new delivery of the same event to the same destination.
 * @returns null when the delivery or its destination does not exist (any more)
 * @throws PayloadExpiredError
 */
export async function replayDelivery(
  pool: Pool,
  organizationId: string,
  deliveryId: string,
  validate: ValidatePayload,
  takeRoom: TakeRoom,
): Promise<ReplayResult | null> {
  const [target] = await targetsAgain(pool, organizationId, [deliveryId]);
  if (!target) return null;
  await requirePayloads(pool, { organizationId, eventIds: [target.eventId] });
  const mismatchOf = await findMismatches(pool, organizationId, [target], validate);
  return store(pool, { organizationId, targets: [target], mismatchOf }, takeRoom);
}

/** Creates a new delivery for each of these that can be delivered again: its destination is there, and its payload. */
export async function replayDeliveries(
  pool: Pool,
  organizationId: string,
  deliveryIds: string[],
  validate: ValidatePayload,
  takeRoom: TakeRoom,
): Promise<ReplayResult> {
  const targets = await targetsAgain(pool, organizationId, deliveryIds);
  const { low, high } = bounds(targets.map(({ eventId }) => eventId));
  const { rows } = await pool.query<{ id: string }>(
    'select event_id as id from event_payloads where event_id = any($1::text[]) and event_id between $2 and $3',
    [targets.map(({ eventId }) => eventId), low, high],
  );
  const kept = new Set(rows.map(({ id }) => id));
  const possible = targets.filter(({ eventId }) => kept.has(eventId));
  const mismatchOf = await findMismatches(pool, organizationId, possible, validate);
  return store(pool, { organizationId, targets: possible, mismatchOf }, takeRoom);
}

/**
 * Replays a failed delivery for its workflow; idempotent, because the workflow retries when the answer was lost.
 * @returns the delivery that replays it, maybe an existing one; undefined when a replay is no longer possible
 */
export async function replayOnce(
  pool: Pool,
  organizationId: string,
  deliveryId: string,
  validate: ValidatePayload = cannotValidate,
): Promise<string | undefined> {
  const [notice] = await noticesFor(pool, [{ deliveryId, shows: null }]);
  if (notice?.says === 'replayed') return notice.replayedAs;
  try {
    return (await replayDelivery(pool, organizationId, deliveryId, validate, alwaysRoom))?.deliveries[0]?.id;
  } catch (error) {
    if (error instanceof PayloadExpiredError) return undefined;
    throw error;
  }
}

async function requirePayloads(db: Queryable, request: ReplayRequest): Promise<void> {
  const { low, high } = bounds(request.eventIds);
  const { rows } = await db.query<{ id: string }>(
    `select e.id from events e left join event_payloads p on p.event_id = e.id and p.event_id between $3 and $4
     where e.organization_id = $1 and e.id = any($2::text[]) and e.id between $3 and $4 and p.event_id is null limit 1`,
    [request.organizationId, request.eventIds, low, high],
  );
  if (rows[0]) throw new PayloadExpiredError(rows[0].id);
}

/** Creates the deliveries, inside the caller's transaction. Of an event that was deleted meanwhile there is none. */
export async function insertPlanned(
  db: Queryable,
  { organizationId, targets, mismatchOf }: PlannedReplays,
): Promise<ReplayResult> {
  if (targets.length === 0) return { eventsQueued: 0, deliveriesCreated: 0, deliveries: [] };
  await db.query(`select ${WAKE_RELAYS}, ${JOIN_LISTS}`);
  const events = bounds([...new Set(targets.map((target) => target.eventId))]);
  const replayed = bounds(targets.flatMap((target) => target.replayOf ?? []));
  const { rows } = await db.query<ReplayedDelivery & { event_id: string }>(CREATE, [
    jsonParameter(targets.map((target) => deliveryRow(organizationId, target, mismatchOf))),
    replayed.low,
    replayed.high,
    events.ids,
    events.low,
    events.high,
    replayed.ids,
  ]);
  return {
    eventsQueued: new Set(rows.map((row) => row.event_id)).size,
    deliveriesCreated: rows.length,
    deliveries: rows.map(({ id, replacesFailed }) => ({ id, replacesFailed })),
  };
}

function deliveryRow(organizationId: string, target: Target, mismatchOf: MismatchOf) {
  const id = newId('dlv');
  return {
    id,
    organization_id: organizationId,
    event_id: target.eventId,
    source_id: target.sourceId,
    route_id: target.routeId,
    route_version: target.routeVersion,
    transform_version: target.transformVersion,
    destination_id: target.destinationId,
    priority: target.priority,
    shard: shardOf(id),
    replay_of: target.replayOf,
    failover_of: target.failoverOf,
    original_destination_id: target.originalDestinationId,
    failover_reason: target.failoverReason,
    ...stateOf(target, mismatchOf(target)),
  };
}

function stateOf(target: Target, mismatch: string | null): { status: string; error: string | null } {
  if (mismatch !== null) return { status: 'schema_failed', error: mismatch };
  if (!target.enabled) return { status: 'skipped', error: 'The destination is disabled' };
  return { status: 'pending', error: null };
}
