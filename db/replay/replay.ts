// Replays: new deliveries of events that are already stored.
// Rules: EVT-15, RPL-03, RPL-04.
import { newId, shardOf } from '../../core/ids.ts';
import { bounds, jsonParameter } from '../parameters.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { noticesFor } from '../reconciliation/reconciliation.ts';
import { OPEN, toOutbox, WAKE_RELAYS } from '../sql-rules.ts';
import { cannotValidate, findMismatches, type MismatchOf, type ValidatePayload } from './replay-schemas.ts';
import { countEndings } from '../delivery/figures.ts';
import { countUnsent } from '../delivery/unsent.ts';

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

export interface ReplayRequest {
  organizationId: string;
  /** Unknown events are ignored. */
  eventIds: string[];
  /** Only to these; default: wherever the routes of the source currently send the event. */
  destinationIds?: string[];
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

interface Target {
  eventId: string;
  sourceId: string;
  routeId: string | null;
  destinationId: string;
  priority: number;
  enabled: boolean;
  replayOf: string | null;
}

// Targets of an event: the currently enabled routes of its source, and for requested destinations also the routes it took before.
// `distinct on` keeps one target per route and destination; its latest earlier delivery is the one being replayed.
const TARGETS = `
with wanted as (
  select e.id, e.source_id from events e join sources s on s.id = e.source_id
  where e.organization_id = $1 and e.id = any($2::text[]) and e.id between $4 and $5
), candidate as (
  select w.id as event_id, w.source_id, r.id as route_id, d.destination_id, r.priority
  from wanted w join routes r on r.source_id = w.source_id and r.enabled
  cross join lateral unnest(r.destination_ids) as d(destination_id)
  union
  select w.id, w.source_id, x.route_id, x.destination_id, x.priority
  from wanted w join deliveries x on x.event_id = w.id
  where $3::text[] is not null and x.destination_id = any($3)
    and not exists (select from routes r where r.source_id = w.source_id and r.enabled and r.destination_ids @> array[x.destination_id])
)
select distinct on (c.event_id, c.destination_id, c.route_id)
  c.event_id as "eventId", c.source_id as "sourceId", c.route_id as "routeId", c.destination_id as "destinationId",
  c.priority, t.enabled, x.id as "replayOf"
from candidate c
join destinations t on t.id = c.destination_id and t.organization_id = $1
left join deliveries x on x.event_id = c.event_id and x.destination_id = c.destination_id and x.route_id is not distinct from c.route_id
where $3::text[] is null or c.destination_id = any($3)
order by c.event_id, c.destination_id, c.route_id, x.id desc`;

const SCHEMA_FAILED = `status = 'schema_failed'`;

// The event's row lock (taken by `totals`) orders a replay against results of the same event. A finished delivery that is
// replayed stops counting and its successor counts instead; an open one continues and both count. `|| ''` keeps the joins from
// pruning partitions (hot-path/record-results.ts).
const CREATE = `
with input as (
  select * from json_to_recordset($1::json) as i(id text, organization_id text, event_id text, source_id text, route_id text,
    destination_id text, priority int, shard int, status text, replay_of text, error text)
), locked as (
  select id from events where id = any($4::text[]) and id between $5 and $6 order by id for update
), superseded as (
  update deliveries d set counted = false
  from input i, locked l
  where d.id || '' = i.replay_of and l.id = d.event_id and d.id = any($7::text[]) and d.id between $2 and $3 and i.status <> 'skipped'
    and d.counted and d.status not in ${OPEN}
  returning d.id, d.event_id, d.status
), created as (
  insert into deliveries (id, organization_id, event_id, source_id, route_id, destination_id, priority, status, counted, replay_of, error, finished_at)
  select i.id, organization_id, event_id, source_id, route_id, destination_id, priority, status, status <> 'skipped', replay_of,
         error, case when status <> 'pending' then now() end
  from input i join locked l on l.id = i.event_id
  returning id, organization_id, event_id, source_id, status, destination_id, route_id
), ${countUnsent('created', SCHEMA_FAILED)}, ${countEndings('created', { not_sent: SCHEMA_FAILED })}, queued as (
  ${toOutbox('i', { delivery_id: 'i.id' })}
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

/**
 * Creates new deliveries of stored events, by the current routes.
 * @throws PayloadExpiredError when one of the events has no payload any more
 * @throws UnroutableDestinationError when a requested destination gets none of these events
 */
export async function createReplays(
  pool: Pool,
  request: ReplayRequest,
  validate: ValidatePayload = cannotValidate,
): Promise<ReplayResult> {
  await requirePayloads(pool, request);
  const targets = await findTargets(pool, request);
  const reachable = new Set(targets.map((target) => target.destinationId));
  const unroutable = (request.destinationIds ?? []).filter((id) => !reachable.has(id));
  if (unroutable.length > 0 && request.eventIds.length > 0) throw new UnroutableDestinationError(unroutable);
  // Before the transaction: no connection waits for a validation.
  const mismatchOf = await findMismatches(pool, request.organizationId, targets, validate);
  return inTransaction(pool, (db) => insertReplays(db, request.organizationId, targets, mismatchOf));
}

/** What a replay will create. */
export interface PlannedReplays {
  organizationId: string;
  targets: Target[];
  mismatchOf: MismatchOf;
}

/**
 * Plans replays of events that have their payloads; those without a target are skipped. Outside of a transaction: a validation
 * may take long.
 */
export async function planReplays(
  pool: Pool,
  request: ReplayRequest,
  validate: ValidatePayload,
): Promise<PlannedReplays> {
  const { organizationId } = request;
  const targets = await findTargets(pool, request);
  return { organizationId, targets, mismatchOf: await findMismatches(pool, organizationId, targets, validate) };
}

/** Creates the deliveries, inside the caller's transaction. Of an event that was deleted meanwhile there is none. */
export function insertPlanned(
  db: Queryable,
  { organizationId, targets, mismatchOf }: PlannedReplays,
): Promise<ReplayResult> {
  return insertReplays(db, organizationId, targets, mismatchOf);
}

async function findTargets(db: Queryable, request: ReplayRequest): Promise<Target[]> {
  const { low, high } = bounds(request.eventIds);
  const { rows } = await db.query<Target>(TARGETS, [
    request.organizationId,
    request.eventIds,
    request.destinationIds ?? null,
    low,
    high,
  ]);
  return rows;
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
): Promise<ReplayResult | null> {
  const [target] = await targetsAgain(pool, organizationId, [deliveryId]);
  if (!target) return null;
  await requirePayloads(pool, { organizationId, eventIds: [target.eventId] });
  const mismatchOf = await findMismatches(pool, organizationId, [target], validate);
  return inTransaction(pool, (db) => insertReplays(db, organizationId, [target], mismatchOf));
}

/** Creates a new delivery for each of these that can be delivered again: its destination is there, and its payload. */
export async function replayDeliveries(
  pool: Pool,
  organizationId: string,
  deliveryIds: string[],
  validate: ValidatePayload,
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
  return inTransaction(pool, (db) => insertReplays(db, organizationId, possible, mismatchOf));
}

async function targetsAgain(db: Queryable, organizationId: string, deliveryIds: string[]): Promise<Target[]> {
  const { low, high } = bounds(deliveryIds);
  const { rows } = await db.query<Target>(
    `select d.event_id as "eventId", d.source_id as "sourceId", d.route_id as "routeId", d.destination_id as "destinationId",
            d.priority, t.enabled, d.id as "replayOf"
     from deliveries d join destinations t on t.id = d.destination_id join sources s on s.id = d.source_id
     where d.organization_id = $1 and d.id = any($2::text[]) and d.id between $3 and $4`,
    [organizationId, deliveryIds, low, high],
  );
  return rows;
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
    return (await replayDelivery(pool, organizationId, deliveryId, validate))?.deliveries[0]?.id;
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

async function insertReplays(
  db: Queryable,
  organizationId: string,
  targets: Target[],
  mismatchOf: MismatchOf,
): Promise<ReplayResult> {
  if (targets.length === 0) return { eventsQueued: 0, deliveriesCreated: 0, deliveries: [] };
  await db.query(`select ${WAKE_RELAYS}`);
  const events = bounds(targets.map((target) => target.eventId));
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
    destination_id: target.destinationId,
    priority: target.priority,
    shard: shardOf(id),
    replay_of: target.replayOf,
    ...stateOf(target, mismatchOf(target)),
  };
}

function stateOf(target: Target, mismatch: string | null): { status: string; error: string | null } {
  if (mismatch !== null) return { status: 'schema_failed', error: mismatch };
  if (!target.enabled) return { status: 'skipped', error: 'The destination is disabled' };
  return { status: 'pending', error: null };
}
