// Replays: new deliveries of events that are already stored.
import { newId, shardOf } from '../../core/text/ids.ts';
import type { Settle, WaitingOf } from '../../core/fairness/backlog-room.ts';
import {
  firstDeliveryOf,
  JOIN_LISTS,
  KEYS_LOCKED,
  lockKeys,
  OPEN,
  READ_IN_ORDER,
  toOutbox,
  WAKE_RELAYS,
} from '../sql/rules.ts';
import { bounds, rowsParameter, among, fragment, raw, sql } from '../connections/statements.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { noticesFor } from '../delivery/reconciliation.ts';
import {
  cannotValidate,
  findMismatches,
  type MismatchOf,
  type ValidatePayload,
  chains,
  findTargets,
  type ReplayRequest,
  type Target,
  type TargetAgain,
  targetsAgain,
} from './targets.ts';
import { countWithoutAttempt } from '../ledger/entries.ts';

/**
 * Why nothing is replayed: the payload of an event was removed, an event leads to too many deliveries, destinations get
 * none of these events, or a delivery was replaced `by` the latest of its chain (null: by none, it has not ended).
 */
export type ReplayObstacle =
  | { is: 'expired' | 'crowded'; eventId: string }
  | { is: 'unroutable'; destinationIds: string[] }
  | { is: 'replaced'; deliveryId: string; by: string | null };

export class CannotReplayError extends Error {
  override readonly name = 'CannotReplayError';
  readonly why: ReplayObstacle;
  constructor(why: ReplayObstacle) {
    super(`Nothing can be replayed: ${JSON.stringify(why)}`);
    this.why = why;
  }
}

export interface ReplayResult {
  eventsQueued: number;
  /** Events that lead to destinations, of which there is none, because earlier deliveries are open. */
  eventsUnderWay: number;
  deliveriesCreated: number;
  deliveries: ReplayedDelivery[];
}

export interface ReplayedDelivery {
  id: string;
  /** The failed delivery that it replaces, whose workflow may still wait for this replay; else null. */
  replacesFailed: string | null;
}

/**
 * Counts deliveries that are about to be created.
 * @param events those of each event (`waitingByEvent`)
 * @throws an error of the caller's when there is no room for them
 */
export type TakeRoom = (events: readonly WaitingOf[]) => Settle;

const alwaysRoom: TakeRoom = () => () => undefined;

/**
 * Creates new deliveries of stored events, by the current routes.
 * @throws CannotReplayError
 */
export async function createReplays(
  pool: Pool,
  request: ReplayRequest,
  validate: ValidatePayload = cannotValidate,
  takeRoom: TakeRoom = alwaysRoom,
): Promise<ReplayResult> {
  const { organizationId, eventIds, destinationIds = [] } = request;
  const [expired] = await withoutPayload(pool, organizationId, eventIds);
  if (expired !== undefined) throw new CannotReplayError({ is: 'expired', eventId: expired });
  const planned = await planReplays(pool, request, validate);
  if (planned.crowded !== null) throw new CannotReplayError({ is: 'crowded', eventId: planned.crowded });
  const reachable = new Set(planned.targets.map((target) => target.destinationId));
  const unroutable = destinationIds.filter((id) => !reachable.has(id));
  if (unroutable.length > 0 && eventIds.length > 0)
    throw new CannotReplayError({ is: 'unroutable', destinationIds: unroutable });
  return store(pool, planned, takeRoom);
}

const isEnded = ({ isOpen }: Target): boolean => !isOpen;

export interface PlannedReplays {
  organizationId: string;
  /** Nothing is created for those that are open. */
  targets: Target[];
  mismatchOf: MismatchOf;
}

/** What a page of a replay will create, at most. */
export interface PlannedPage extends PlannedReplays {
  /** Those from this event on are left out, because it leads to too many deliveries. */
  crowded: string | null;
}

/** The deliveries that will wait, by event and in that order; of an event without any there is an empty list. */
export function waitingByEvent({ targets, mismatchOf }: PlannedReplays): Map<string, WaitingOf> {
  const waits = (target: Target) => isEnded(target) && stateOf(target, mismatchOf(target)).status === 'pending';
  const events = [...Map.groupBy(targets, ({ eventId }) => eventId)];
  return new Map(events.map(([eventId, its]) => [eventId, its.filter(waits)]));
}

async function store(pool: Pool, planned: PlannedReplays, takeRoom: TakeRoom): Promise<ReplayResult> {
  const settle = takeRoom([...waitingByEvent(planned).values()]);
  try {
    const stored = await inTransaction(pool, (db) => insertPlanned(db, planned));
    settle(true);
    return stored;
  } catch (error) {
    settle(false);
    throw error;
  }
}

/**
 * Plans replays of events that have their payloads; those without a target are skipped. Outside of a transaction: a
 * validation may take long.
 */
export async function planReplays(pool: Pool, request: ReplayRequest, validate: ValidatePayload): Promise<PlannedPage> {
  const { organizationId } = request;
  const { targets, crowded } = await findTargets(pool, request);
  const mismatchOf = await findMismatches(pool, organizationId, targets.filter(isEnded), validate);
  return { organizationId, targets, mismatchOf, crowded };
}

/**
 * @returns null when the delivery or its destination does not exist (any more), or it was replaced too long ago
 * (`EARLIER_READ`)
 * @throws CannotReplayError: expired, replaced
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
  const [expired] = await withoutPayload(pool, organizationId, [target.eventId]);
  if (expired !== undefined) throw new CannotReplayError({ is: 'expired', eventId: expired });
  // The destination that its event was to go to first is tried again, whatever has taken over from it.
  const replacedBy = target.status === 'failed_over' ? target.replayedBy : target.replacedBy;
  if (target.isOpen || replacedBy !== null) throw replacedBefore(target);
  const mismatchOf = await findMismatches(pool, organizationId, [target], validate);
  const result = await store(pool, { organizationId, targets: [target], mismatchOf }, takeRoom);
  if (result.deliveriesCreated > 0) return result;
  // Another replay was first, or its event was deleted.
  const [now] = await targetsAgain(pool, organizationId, [deliveryId]);
  if (!now) return null;
  throw replacedBefore(now);
}

const replacedBefore = ({ deliveryId, replacedBy }: TargetAgain) =>
  new CannotReplayError({ is: 'replaced', deliveryId, by: replacedBy });

/**
 * Creates a new delivery for each of these that can be delivered again: no later delivery replaces it, nothing of its
 * chain is open, and its destination is there, and its payload.
 */
export async function replayDeliveries(
  pool: Pool,
  organizationId: string,
  deliveryIds: string[],
  validate: ValidatePayload,
  takeRoom: TakeRoom,
): Promise<ReplayResult> {
  const targets = oncePerChain(await targetsAgain(pool, organizationId, deliveryIds));
  const eventIds = targets.map(({ eventId }) => eventId);
  const expired = new Set(await withoutPayload(pool, organizationId, eventIds));
  const possible = targets.filter(({ eventId }) => !expired.has(eventId));
  const mismatchOf = await findMismatches(pool, organizationId, possible, validate);
  return store(pool, { organizationId, targets: possible, mismatchOf }, takeRoom);
}

/** Of several of a chain that were all skipped after one that was not, the latest. */
function oncePerChain(targets: TargetAgain[]): TargetAgain[] {
  const possible = targets.filter((target) => isEnded(target) && target.replacedBy === null);
  return [...Map.groupBy(possible, (target) => JSON.stringify(chainKey(target))).values()].flatMap(
    ([first]) => first ?? [],
  );
}

const chainKey = (target: Target): (string | null)[] => [target.eventId, target.routeId, chainOfTarget(target)];
const chainOfTarget = ({ originalDestinationId, destinationId }: Target): string =>
  originalDestinationId ?? destinationId;

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
    if (error instanceof CannotReplayError) return undefined;
    throw error;
  }
}

/** Those of these events whose payload was removed. */
function withoutPayload(db: Queryable, organizationId: string, eventIds: string[]): Promise<string[]> {
  const { ids, low, high } = bounds(eventIds);
  return sql(db).column`
    select e.id from events e left join event_payloads p on p.event_id = e.id and p.event_id between ${low} and ${high}
    where e.organization_id = ${organizationId} and ${among('e.id', ids)}
      and p.event_id is null`;
}

/** Creates the deliveries, inside the caller's transaction. Of an event that was deleted meanwhile there is none. */
export async function insertPlanned(
  db: Queryable,
  { organizationId, targets, mismatchOf }: PlannedReplays,
): Promise<ReplayResult> {
  if (targets.length === 0) return { eventsQueued: 0, eventsUnderWay: 0, deliveriesCreated: 0, deliveries: [] };
  const eventIds = [...new Set(targets.map((target) => target.eventId))];
  const ended = targets.filter(isEnded);
  const locked = await lockEvents(db, organizationId, eventIds, ended);
  const rows = await create(
    db,
    { organizationId, eventIds, firstDelivery: firstDeliveryOf(bounds(eventIds).low) },
    ended.map((target) => deliveryRow(organizationId, target, mismatchOf)),
  );
  const eventsQueued = new Set(rows.map((row) => row.eventId)).size;
  return {
    eventsQueued,
    eventsUnderWay: locked.length - eventsQueued,
    deliveriesCreated: rows.length,
    deliveries: rows.map(({ id, replacesFailed }) => ({ id, replacesFailed })),
  };
}

// Replays of an event queue for its row, which this holds: the statement that creates them begins when the replays
// before it can be seen. Ordering keys are locked before events, as by the statement that records results.
function lockEvents(db: Queryable, organizationId: string, eventIds: string[], ended: Target[]): Promise<string[]> {
  const ordered = ended.filter(({ orderHash }) => orderHash !== null);
  const destinationIds = ordered.map(({ destinationId }) => destinationId);
  const hashes = ordered.map(({ orderHash }) => orderHash?.toString('hex'));
  const keys = fragment`
    select * from unnest(${destinationIds}::text[], ${hashes}::text[]) as w(destination, hex),
      decode(w.hex, 'hex') as hash`;
  return sql(db).value<string[]>`
    with ${lockKeys(keys)}, locked as materialized (
      select id from events
      where ${among('id', eventIds)} and organization_id = ${organizationId} and ${raw(KEYS_LOCKED)} order by id
      for update
    )
    select array(select id from locked), ${raw(WAKE_RELAYS)}, ${raw(JOIN_LISTS)}, ${raw(READ_IN_ORDER)}`;
}

const SCHEMA_FAILED = `status = 'schema_failed'`;
const COUNTED = countWithoutAttempt('created', { deliveries: 'true', not_sent: SCHEMA_FAILED });
const QUEUED = toOutbox('i', {
  delivery_id: 'i.id',
  failover_of: 'i.failover_of',
  order_hash: "decode(i.order_hash, 'hex')",
});

// Of a chain that is not as it was when its replay was planned, nothing is created: one of them was first. The row of
// the event also orders a replay against the results of its event. What is replaced stops counting, and its successor
// counts instead. `|| ''` keeps the joins from pruning partitions (hot-path/record-results.ts).
function create(
  db: Queryable,
  of: Parameters<typeof chains>[0],
  deliveries: ReturnType<typeof deliveryRow>[],
): Promise<(ReplayedDelivery & { eventId: string })[]> {
  const replaced = deliveries.flatMap(({ replaces }) => replaces);
  return sql(db).rows<ReplayedDelivery & { eventId: string }>`
    with planned as (
      select * from json_to_recordset(${rowsParameter(deliveries)}::json) as i(id text, organization_id text,
        event_id text, source_id text, route_id text, route_version int, transform_version int, destination_id text,
        priority int, shard int, status text, replay_of text, replaces text[], chain text, error text,
        failover_of text, original_destination_id text, failover_reason text, order_hash text, order_key text)
    ), ${chains(of)}, input as (
      select i.* from planned i
      left join chains h on h.event_id = i.event_id and h.route_id is not distinct from i.route_id and h.chain = i.chain
      where h.event_id is null or (h.end_id = i.replay_of and not h.open)
    ), locked as (
      select id from events where ${among('id', of.eventIds)}
    ), replaced as (
      select i.id, i.event_id, replaced_id from input i, unnest(i.replaces) as replaced_id where i.status <> 'skipped'
    ), superseded as (
      update deliveries d set counted = false
      from replaced i, locked l
      where d.id || '' = i.replaced_id and l.id = d.event_id and ${among('d.id', replaced)}
        and d.counted and d.status not in ${raw(OPEN)}
      returning d.id, d.event_id, d.status
    ), created as (
      insert into deliveries (id, organization_id, event_id, source_id, route_id, route_version, transform_version,
                              destination_id, priority, status, counted, replay_of, error, finished_at, failover_of,
                              original_destination_id, failover_reason, order_hash, order_key)
      select i.id, organization_id, event_id, source_id, route_id, route_version, transform_version, destination_id,
             priority, status, status <> 'skipped', replay_of, error, case when status <> 'pending' then now() end,
             failover_of, original_destination_id, failover_reason, decode(order_hash, 'hex'), order_key
      from input i join locked l on l.id = i.event_id
      -- ordering keys in the order in which all lock them, and of each the oldest first
      order by i.destination_id collate "C", i.order_hash collate "C", i.event_id, i.id
      returning id, organization_id, event_id, source_id, status, destination_id, route_id
    ), ${raw(COUNTED)}, queued as (
      ${raw(QUEUED)}
      from input i join created c on c.id = i.id where i.status = 'pending'
    ), change as (
      select event_id, sum(added)::int as added, sum(succeeded)::int as succeeded, sum(failed)::int as failed from (
        select event_id, 1 as added, 0 as succeeded, (status = 'schema_failed')::int as failed from created
          where status <> 'skipped'
        union all
        select event_id, -1, -(status = 'delivered')::int, -(status <> 'delivered')::int from superseded
      ) changes group by event_id
    ), totals as (
      update events e
      set deliveries_count = e.deliveries_count + c.added, deliveries_succeeded = e.deliveries_succeeded + c.succeeded,
          deliveries_failed = e.deliveries_failed + c.failed, routed = true,
          status = event_status(e.deliveries_count + c.added, e.deliveries_succeeded + c.succeeded,
            e.deliveries_failed + c.failed)
      from change c where e.id || '' = c.event_id and ${among('e.id', of.eventIds)}
    )
    select c.id, c.event_id, s.id as replaces_failed
    from created c join input i on i.id = c.id left join superseded s on s.id = i.replay_of and s.status = 'failed'`;
}

function deliveryRow(organizationId: string, target: Target, mismatchOf: MismatchOf) {
  const id = newId('dlv');
  return {
    ...target,
    id,
    organizationId,
    shard: shardOf(id),
    chain: chainOfTarget(target),
    orderHash: target.orderHash?.toString('hex'),
    ...stateOf(target, mismatchOf(target)),
  };
}

function stateOf(target: Target, mismatch: string | null): { status: string; error: string | null } {
  if (mismatch !== null) return { status: 'schema_failed', error: mismatch };
  if (!target.enabled) return { status: 'skipped', error: 'The destination is disabled' };
  return { status: 'pending', error: null };
}
