// Commands of users and workflows on deliveries and events. PostgreSQL is the record: these statements decide, and the workflows
// are signalled afterwards (a workflow that misses the signal notices at its next attempt).
// Rules: DEST-37.
import { errorText } from '../../core/text/clean-text.ts';
import { type DescribedError, openError, ownWords } from '../../core/text/error-summary.ts';
import { idFloor, idTime } from '../../core/text/ids.ts';
import { deliveriesFinished } from '../../core/metrics/deliveries.ts';
import { afterCommit } from '../after-commit.ts';
import { CLOCK_SKEW_MS } from '../clock.ts';
import { isTransientDatabaseError } from '../connections/database-errors.ts';
import { bounds } from '../parameters.ts';
import { countRemoved, countWithoutAttempt } from '../ledger/entries.ts';
import { noteOutcomes } from '../messages/route-mails.ts';
import { endOpen } from './open-deliveries.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { noLongerWaiting, OPEN, outboxRow, PRIMARY_DESTINATION, WAKE_CIRCUITS } from '../sql-rules.ts';

/** The error of deliveries that were open when their destination was deleted. */
export const DESTINATION_DELETED = openError(ownWords`The destination was deleted`);
// How many of them the request that deletes it cancels; the others are cancelled in the background (deleted-destinations.ts).
const CANCELLED_AT_ONCE = 1000;

/** Which open deliveries of an organization to end, and how. */
export interface EndSelection {
  organizationId: string;
  deliveryIds?: string[];
  destinationIds?: string[];
  eventId?: string;
  /** Shown as the delivery's error. */
  reason: DescribedError;
  /** Leaves out those that are in a warehouse's batch: its file is being written. */
  notInBatch?: boolean;
}

// A delivery is ended once: its status is checked again under the row lock, so if a cancel and a result race, exactly one counts
// in the event's totals. A skipped delivery stops counting at all (EVT-10).
const END = `
with ended as (
  update deliveries d
  set status = $8, error = $2, error_summary = $10, next_attempt_at = null, finished_at = now(), counted = d.counted and $8 <> 'skipped'
  where d.organization_id = $1 and d.status in ${OPEN}
    and ($3::text[] is null or (d.id = any($3) and d.id between $6 and $7))
    and ($4::text[] is null or d.destination_id = any($4))
    and ($5::text is null or d.event_id = $5)
    and (not $9 or d.batch_id is null)
  returning d.id, d.organization_id, d.event_id, d.source_id, d.route_id, d.destination_id, d.priority, d.counted,
    ${PRIMARY_DESTINATION} as primary_id, d.attempt_count, d.status_code, d.finished_at
), ${noLongerWaiting('ended')}, change as (
  select event_id, (count(*) filter (where counted))::int as failed, (count(*) filter (where not counted))::int as dropped
  from ended group by event_id
), held as (
  -- in the order in which results take them (hot-path/record-results.ts)
  select e.id from events e join change c on e.id = c.event_id order by e.id for update of e
), totals as (
  update events e
  set deliveries_count = e.deliveries_count - c.dropped, deliveries_failed = e.deliveries_failed + c.failed,
      status = event_status(e.deliveries_count - c.dropped, e.deliveries_succeeded, e.deliveries_failed + c.failed)
  from change c where e.id = c.event_id and (select count(*) from held) > 0
), failed as (
  select organization_id, route_id, source_id, destination_id, primary_id, event_id, id as delivery_id, $8 as status,
         attempt_count as attempts, status_code, $10 as error_summary, finished_at as at
  from ended where $8 = 'failed'
), ${countWithoutAttempt('ended', { not_sent: `$8 = 'failed'`, cancelled: `$8 = 'cancelled'` })}, ${noteOutcomes('failed')}
select id, (select written from noted) as notifications,
       case when exists (select from unelected) then ${WAKE_CIRCUITS} end
from ended`;

/** Cancels open deliveries; a cancelled one counts as not succeeded. @returns the ids that were open */
export function cancelDeliveries(db: Queryable, selection: EndSelection): Promise<string[]> {
  return endDeliveries(db, 'cancelled', selection);
}

/**
 * Ends open deliveries without an attempt.
 * @returns the ids that were open and have the new status now
 */
export async function endDeliveries(
  db: Queryable,
  status: 'cancelled' | 'failed' | 'skipped',
  selection: EndSelection,
): Promise<string[]> {
  const { low, high } = bounds(selection.deliveryIds ?? []);
  const { rows } = await db.query<{ id: string }>(END, [
    selection.organizationId,
    errorText(selection.reason.detail),
    selection.deliveryIds ?? null,
    selection.destinationIds ?? null,
    selection.eventId ?? null,
    low,
    high,
    status,
    selection.notInBatch ?? false,
    selection.reason.summary,
  ]);
  afterCommit(db, () => deliveriesFinished.add({ status }, rows.length));
  return rows.map((row) => row.id);
}

const POSTPONE = `
with postponed as (
  update deliveries set next_attempt_at = now() + make_interval(secs => $2::float8 / 1000)
  where id = $1 and status in ${OPEN}
  returning id, organization_id, destination_id, priority
), left_alone as (
  delete from outbox o using postponed p
  where ${outboxRow('p')} and (o.resume = 'waiting' or $3)
  returning p.*
)
insert into retrying_deliveries (delivery_id, organization_id, destination_id)
select id, organization_id, destination_id from left_alone on conflict do nothing`;

/**
 * Stores the time of the next attempt of an open delivery, for display only. The delivery no longer waits for its turn.
 * @param isLeftToWorkflow whether it leaves the outbox too, because its workflow makes the next attempt: else the relay would
 * start it again and again
 */
export async function postponeDelivery(
  db: Queryable,
  deliveryId: string,
  forMs: number,
  isLeftToWorkflow: boolean = false,
): Promise<void> {
  await db.query(POSTPONE, [deliveryId, forMs, isLeftToWorkflow]);
}

const COUNT_REMOVED = `
with gone as (
  select $1::text as organization_id, $2::text as source_id, $3::timestamptz as received_at, $4::integer as payload_size
), ${countRemoved('gone')}
select from gone`;

/** Deliveries that one statement of the deletion of events removes. */
const REMOVED_AT_ONCE = 5000;

/**
 * Deletes an event with its payload, deliveries and attempts.
 * @returns the deliveries whose workflow may be open; null when the organization has no such event
 */
export async function deleteEvent(
  pool: Pool,
  organizationId: string,
  eventId: string,
): Promise<{ withWorkflow: string[] } | null> {
  return inTransaction(pool, async (db) => {
    // Locked first, so that no replay adds deliveries meanwhile, and deleted when nothing belongs to it any more: what belongs to no
    // event or delivery is no tenant's, so it could not be deleted for one (tenants/policies.ts).
    const { rows } = await db.query<{ source: string; receivedAt: Date; size: number }>(
      'select source_id as source, received_at as "receivedAt", payload_size as size from events where id = $2 and organization_id = $1 for update',
      [organizationId, eventId],
    );
    const event = rows[0];
    if (!event) return null;
    const withWorkflow = await removeDeliveriesOf(db, eventId);
    await removeEventsChildren(db, [eventId]);
    await db.query('delete from events where id = $2 and organization_id = $1', [organizationId, eventId]);
    await db.query(COUNT_REMOVED, [organizationId, event.source, event.receivedAt, event.size]);
    return { withWorkflow };
  });
}

/** Removes the deliveries of an event in steps, ordered by id: after many replays an event may have a very large number of them. */
async function removeDeliveriesOf(db: Queryable, eventId: string): Promise<string[]> {
  const withWorkflow: string[] = [];
  for (let from = firstDeliveryOf(eventId); ; ) {
    const { rows } = await db.query<{ id: string; hasWorkflow: boolean }>(
      // One that failed waits for a replay.
      `select id, status in ${OPEN} or status = 'failed' as "hasWorkflow"
       from deliveries where event_id = $1 and id >= $2 order by id limit $3 for update`,
      [eventId, from, REMOVED_AT_ONCE],
    );
    if (rows.length === 0) return withWorkflow;
    withWorkflow.push(...rows.filter(({ hasWorkflow }) => hasWorkflow).map(({ id }) => id));
    const { ids, low, high } = bounds(rows.map(({ id }) => id));
    await removeAttempts(db, ids);
    await db.query(REMOVE, [ids, low, high]);
    if (rows.length < REMOVED_AT_ONCE) return withWorkflow;
    from = ids.at(-1) ?? from;
  }
}

/** No delivery is older than its event, apart from clock differences of processes; there is no upper bound. */
export const firstDeliveryOf = (eventId: string): string =>
  idFloor('dlv', Math.max(0, idTime(eventId) - CLOCK_SKEW_MS));

/** Removes payloads, deliveries, attempts and outbox rows of events that are being deleted in the same transaction. */
export async function removeEventsChildren(db: Queryable, eventIds: string[]): Promise<void> {
  const { low, high } = bounds(eventIds);
  await db.query('delete from event_payloads where event_id = any($1::text[]) and event_id between $2 and $3', [
    eventIds,
    low,
    high,
  ]);
  // In steps, because a single event may have any number of deliveries.
  for (let removed = REMOVED_AT_ONCE; removed === REMOVED_AT_ONCE; ) {
    const { rows } = await db.query<{ id: string }>(
      'select id from deliveries where event_id = any($1::text[]) and id >= $2 limit $3',
      [eventIds, firstDeliveryOf(low), REMOVED_AT_ONCE],
    );
    removed = rows.length;
    if (removed > 0) {
      await removeDeliveries(
        db,
        rows.map(({ id }) => id),
      );
    }
  }
}

const REMOVE = `
with gone as (
  delete from deliveries where id = any($1::text[]) and id between $2 and $3
  returning id, organization_id, route_id, destination_id, priority
), ${noLongerWaiting('gone')}
select from gone`;

/** Removes deliveries with their attempts, in the caller's transaction. */
export async function removeDeliveries(db: Queryable, deliveryIds: string[]): Promise<void> {
  const { ids, low, high } = bounds(deliveryIds);
  await db.query(REMOVE, [ids, low, high]);
  await removeAttempts(db, ids);
}

/** Removes the attempts of deliveries that are being removed. */
async function removeAttempts(db: Queryable, deliveryIds: string[]): Promise<void> {
  const { ids, low, high } = bounds(deliveryIds);
  await db.query('delete from attempts where delivery_id = any($1::text[]) and delivery_id between $2 and $3', [
    ids,
    low,
    high,
  ]);
}

/**
 * Deletes a source with its routes. Its events and deliveries are invisible from then on: every read joins the source. An open
 * delivery ends when its next attempt finds no source. The rows are removed in the background (db/retention/source-purges.ts), so the
 * time does not depend on the number of events.
 * @param note called with the version that was deleted and the ids of its routes, before the commit; what it throws undoes the deletion
 */
export function deleteSource(
  pool: Pool,
  organizationId: string,
  sourceId: string,
  note: (version: number, routeIds: string[]) => void = () => {},
): Promise<boolean> {
  return inTransaction(pool, async (db) => {
    const { rows } = await db.query<{ version: number; routeIds: string[] }>(
      `with gone as (delete from sources where id = $2 and organization_id = $1 returning version)
       select version, array(select id from routes where organization_id = $1 and source_id = $2 order by id) as "routeIds" from gone`,
      [organizationId, sourceId],
    );
    const [removed] = rows;
    if (!removed) return false;
    note(removed.version, removed.routeIds);
    await db.query('insert into source_purges (source_id, organization_id) values ($1, $2)', [
      sourceId,
      organizationId,
    ]);
    return true;
  });
}

/**
 * Deletes destinations and removes them from all routes in one transaction, and cancels their open deliveries; history is kept
 * (DEST-37). If there are very many open deliveries, or the database is busy, the rest is cancelled in the background; deliveries
 * in a file that is being written end with it.
 * @param note called with those that existed and the ids of the routes that led to them, before the commit; what it throws undoes the
 * deletion
 * @returns the ids that existed, and the deliveries that were cancelled
 */
export async function deleteDestinations(
  pool: Pool,
  organizationId: string,
  destinationIds: string[],
  note: (deleted: Removed[], routeIds: string[]) => void = () => {},
): Promise<{ deleted: string[]; cancelled: string[] }> {
  const deleted = await inTransaction(pool, async (db) => {
    const { removed, routeIds } = await removeDestinations(db, organizationId, destinationIds);
    note(removed, routeIds);
    return removed.map(({ id }) => id);
  });
  return { deleted, cancelled: await cancelSome(pool, organizationId, deleted) };
}

/** A record that was deleted, as it was. */
interface Removed {
  id: string;
  version: number;
}

async function removeDestinations(
  db: Queryable,
  organizationId: string,
  destinationIds: string[],
): Promise<{ removed: Removed[]; routeIds: string[] }> {
  // In the order of ids, so that two concurrent deletions queue instead of deadlocking.
  const { rows } = await db.query<Removed>(
    `with doomed as materialized (
       select id from destinations where id = any($2::text[]) and organization_id = $1 order by id for update
     )
     delete from destinations d using doomed where d.id = doomed.id returning d.id, d.version`,
    [organizationId, destinationIds],
  );
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return { removed: [], routeIds: [] };
  const routes = await db.query<{ id: string }>(
    `update routes
     set destination_ids = array(
           select id from unnest(destination_ids) with ordinality as kept (id, n) where id <> all($2::text[]) order by n),
         failover_destination_ids = array(
           select id from unnest(failover_destination_ids) with ordinality as kept (id, n) where id <> all($2::text[]) order by n),
         version = version + 1, updated_at = now()
     where organization_id = $1 and (destination_ids && $2::text[] or failover_destination_ids && $2::text[])
     returning id`,
    [organizationId, ids],
  );
  return { removed: rows, routeIds: routes.rows.map(({ id }) => id).toSorted() };
}

/** Failure policy: when the database fails, all of it is left to the background. */
async function cancelSome(pool: Pool, organizationId: string, destinationIds: string[]): Promise<string[]> {
  const cancelled: string[] = [];
  if (destinationIds.length === 0) return cancelled;
  let tried = 0;
  try {
    await endOpen(pool, { destinationIds }, CANCELLED_AT_ONCE, async (open) => {
      const deliveryIds = open.map(({ id }) => id);
      cancelled.push(...(await cancelDeliveries(pool, { organizationId, deliveryIds, reason: DESTINATION_DELETED })));
      // Counts tried deliveries: one of a full step may have ended meanwhile.
      tried += deliveryIds.length;
      return tried < CANCELLED_AT_ONCE;
    });
  } catch (error) {
    if (!isTransientDatabaseError(error)) throw error;
  }
  return cancelled;
}
