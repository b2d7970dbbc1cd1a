import { bounds, rowsParameter, among, type Fragment, fragment, raw, sql } from '../connections/statements.ts';
import { isOfRows, isTransientDatabaseError } from '../connections/database-errors.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import type { OutboxRow } from '../hot-path/claim.ts';
import { countRemoved } from '../ledger/entries.ts';
import { Stride, throughPages } from '../sql/ranges.ts';
import { firstDeliveryOf, noLongerWaiting, OPEN, queuedDestinations, unhold, unqueue } from '../sql/rules.ts';
import { cancelDeliveries, DESTINATION_DELETED, endOpen } from './delivery-commands.ts';
import { dropWaiting } from './ordering.ts';

const CANCELLED_AT_ONCE = 1000;
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
    // Locked first, so that no replay adds deliveries meanwhile, and deleted when nothing belongs to it any more: what
    // belongs to no event or delivery is no tenant's, so it could not be deleted for one (schema/roles.ts).
    const event = await sql(db).first<{ source: string; receivedAt: Date; size: number }>`
      select source_id as source, received_at, payload_size as size from events where id = ${eventId}
        and organization_id = ${organizationId} for update`;
    if (!event) return null;
    const withWorkflow = await removeDeliveriesOf(db, eventId);
    await removeEventsChildren(db, [eventId]);
    await sql(db).run`delete from events where id = ${eventId} and organization_id = ${organizationId}`;
    await sql(db).run`
      with gone as (
        select ${organizationId}::text as organization_id, ${event.source}::text as source_id,
          ${event.receivedAt}::timestamptz as received_at, ${event.size}::integer as payload_size
      ), ${raw(countRemoved('gone'))}
      select from gone`;
    return { withWorkflow };
  });
}

/**
 * Removes the deliveries of an event in steps, ordered by id: after many replays an event may have a very large number
 * of them.
 */
async function removeDeliveriesOf(db: Queryable, eventId: string): Promise<string[]> {
  const withWorkflow: string[] = [];
  for (let from = firstDeliveryOf(eventId); ; ) {
    // One that failed waits for a replay.
    const rows = await sql(db).rows<{ id: string; hasWorkflow: boolean }>`
      select id, status in ${raw(OPEN)} or status = 'failed' as has_workflow
      from deliveries where event_id = ${eventId} and id >= ${from} order by id limit ${REMOVED_AT_ONCE} for update`;
    if (rows.length === 0) return withWorkflow;
    withWorkflow.push(...rows.filter(({ hasWorkflow }) => hasWorkflow).map(({ id }) => id));
    const ids = rows.map(({ id }) => id);
    await removeAttempts(db, ids);
    await removeRows(db, ids);
    if (rows.length < REMOVED_AT_ONCE) return withWorkflow;
    from = ids.at(-1) ?? from;
  }
}

export async function removeEventsChildren(db: Queryable, eventIds: string[]): Promise<void> {
  const { low } = bounds(eventIds);
  await sql(db).run`delete from event_payloads where ${among('event_id', eventIds)}`;
  // In steps, because a single event may have any number of deliveries.
  for (let removed = REMOVED_AT_ONCE; removed === REMOVED_AT_ONCE; ) {
    const ids = await sql(db).column`
      select id from deliveries where event_id = any(${eventIds}::text[]) and id >= ${firstDeliveryOf(low)}
      limit ${REMOVED_AT_ONCE}`;
    removed = ids.length;
    if (removed > 0) await removeDeliveries(db, ids);
  }
}

export async function removeDeliveries(db: Queryable, deliveryIds: string[]): Promise<void> {
  await removeRows(db, deliveryIds);
  await removeAttempts(db, deliveryIds);
}

async function removeRows(db: Queryable, deliveryIds: string[]): Promise<void> {
  await sql(db).run`
    with gone as (
      delete from deliveries where ${among('id', deliveryIds)}
      returning id, organization_id, route_id, destination_id, priority
    ), ${raw(noLongerWaiting('gone'))}
    select from gone`;
}

async function removeAttempts(db: Queryable, deliveryIds: string[]): Promise<void> {
  await sql(db).run`delete from attempts where ${among('delivery_id', deliveryIds)}`;
}

/**
 * Deletes a source with its routes. Its events and deliveries are invisible from then on: every read joins the source.
 * An open delivery ends when its next attempt finds no source. The rows are removed in the background
 * (db/operations/source-purges.ts), so the time does not depend on the number of events.
 * @param note called with the version that was deleted and the ids of its routes, before the commit; what it throws
 * undoes the deletion
 */
export function deleteSource(
  pool: Pool,
  organizationId: string,
  sourceId: string,
  note: (version: number, routeIds: string[]) => void = () => {},
): Promise<boolean> {
  return inTransaction(pool, async (db) => {
    const removed = await sql(db).first<{ version: number; routeIds: string[] }>`
      with gone as (delete from sources where id = ${sourceId} and organization_id = ${organizationId}
        returning version)
      select version, array(select id from routes where organization_id = ${organizationId} and source_id = ${sourceId}
        order by id) as route_ids from gone`;
    if (!removed) return false;
    note(removed.version, removed.routeIds);
    await sql(db).run`insert into source_purges (source_id, organization_id) values (${sourceId}, ${organizationId})`;
    return true;
  });
}

/**
 * Deletes destinations and removes them from all routes in one transaction, and cancels their open deliveries; history
 * is kept. If there are very many open deliveries, or the database is busy, the rest is cancelled in the background;
 * deliveries in a file that is being written end with it.
 * @param note called with those that existed and the ids of the routes that led to them, before the commit; what it
 * throws undoes the deletion
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
  const rows = await sql(db).rows<Removed>`
    with doomed as materialized (
      select id from destinations where id = any(${destinationIds}::text[]) and organization_id = ${organizationId}
      order by id for update
    )
    delete from destinations d using doomed where d.id = doomed.id returning d.id, d.version`;
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return { removed: [], routeIds: [] };
  const left = (column: string) => fragment`array(
    select id from unnest(${raw(column)}) with ordinality as kept (id, n) where id <> all(${ids}::text[]) order by n)`;
  const routeIds = await sql(db).column`
    update routes
    set destination_ids = ${left('destination_ids')}, failover_destination_ids = ${left('failover_destination_ids')},
        version = version + 1, updated_at = now()
    where organization_id = ${organizationId}
      and (destination_ids && ${ids}::text[] or failover_destination_ids && ${ids}::text[])
    returning id`;
  return { removed: rows, routeIds: routeIds.toSorted() };
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

// The request that deletes a destination cancels some of its open deliveries; the others that wait for a first attempt
// or for a circuit are cancelled here. One that waits for a retry is cancelled at its next attempt.

const CANCELLING = new Stride(500);
const LOOKING = new Stride(5000);

type Waiting = Pick<OutboxRow, 'deliveryId' | 'organizationId' | 'destinationId' | 'routeId' | 'priority'>;

const WAITING_COLUMNS = raw('delivery_id, w.organization_id, destination_id, route_id, priority');

async function waiting(db: Queryable, most: number, skipped: string[]): Promise<Waiting[]> {
  let found: Waiting[] = [];
  // These have no index by destination. What waits in order goes first: it would follow its head into the outbox.
  const lookIn = (table: string) => {
    const look = async (pages: Fragment) => {
      found = await sql(db).rows<Waiting>`
        select ${WAITING_COLUMNS} from ${raw(table)} w
        where ${pages} and destination_id <> all(${skipped}::text[])
          and not exists (select from destinations t where t.id = w.destination_id) limit ${most}`;
      return found.length;
    };
    return throughPages(db, table, LOOKING, look, (count) => count === 0);
  };
  await lookIn('ordered_deliveries');
  if (found.length > 0) return found;
  // Any of them: so they take turns.
  found = await sql(db).rows<Waiting>`
    with recursive ${raw(queuedDestinations('destination'))}, gone as (
      select organization_id, id from destination d
      where id <> all(${skipped}::text[]) and not exists (select from destinations t where t.id = d.id)
      order by random() limit 1
    )
    select ${WAITING_COLUMNS} from gone g join outbox w on w.organization_id = g.organization_id
      and w.destination_id = g.id limit ${most}`;
  if (found.length > 0) return found;
  await lookIn('held_deliveries');
  return found;
}

export interface Cancelled {
  destinationIds: string[];
  cancelled: number;
}

/**
 * @param failed destinations that are left out; those whose deliveries cannot be cancelled now are added, with the
 * error
 * @returns null when there is none
 * @throws a database error that does not come from the deliveries: the database is down, for example
 */
export async function cancelOfDeletedDestination(
  db: Queryable,
  failed: Map<string, unknown> = new Map(),
): Promise<Cancelled | null> {
  // Of all tries: what one has cancelled before it took too long stays cancelled.
  const destinationIds = new Set<string>();
  let cancelled = 0;
  let trying: Waiting[] = [];
  const step = async (size: number): Promise<boolean> => {
    const rows = await waiting(db, size, [...failed.keys()]);
    for (const { destinationId } of rows) destinationIds.add(destinationId);
    for (const [organizationId, ofOne] of Map.groupBy(rows, (row) => row.organizationId)) {
      trying = ofOne;
      const deliveryIds = ofOne.map(({ deliveryId }) => deliveryId);
      const ended = await cancelDeliveries(db, { organizationId, deliveryIds, reason: DESTINATION_DELETED });
      cancelled += ended.length;
    }
    trying = [];
    if (rows.length > 0) await forget(db, rows);
    return rows.length > 0;
  };
  try {
    const found = await CANCELLING.step(step);
    return found || cancelled > 0 ? { destinationIds: [...destinationIds], cancelled } : null;
  } catch (error) {
    if (trying.length === 0 || !isOfRows(error)) throw error;
    for (const { destinationId } of trying) failed.set(destinationId, error);
    return { destinationIds: [...destinationIds], cancelled };
  }
}

/** Removes rows without an open delivery, so that they are not found again. */
async function forget(db: Queryable, rows: Waiting[]): Promise<void> {
  const gone = fragment`(
    select delivery_id as id, organization_id, destination_id, route_id, priority
    from json_to_recordset(${rowsParameter(rows)}::json) as g(delivery_id text, organization_id text,
      destination_id text, route_id text, priority int))`;
  await sql(db).run`${unqueue(gone)}`;
  await dropWaiting(
    db,
    rows.map(({ destinationId }) => destinationId),
    rows.map(({ deliveryId }) => deliveryId),
  );
  await sql(db).run`${unhold(gone)}`;
}
