// Warehouse destinations with something to write: the rows by which workers start and wake the workflows
// `warehouse:<destination>` (warehouse_flushes).
import { newId } from '../../core/text/ids.ts';
import type { FillingBatch } from '../../core/warehouse/batching.ts';
import { jsonParameter, raw, sql } from '../connections/statements.ts';
import type { Queryable } from '../connections/pool.ts';
import { FIRST_WAREHOUSE, queuedDestinations, UNDER_WAY } from '../sql/rules.ts';

export interface WarehouseKey {
  organizationId: string;
  destinationId: string;
}

/** A destination whose workflow must be started or signalled. */
export interface DueFlush extends WarehouseKey {
  /** Null when the destination was deleted. */
  destinationName: string | null;
  /** The workflow needs a signal; otherwise it only has to run. */
  hasNews: boolean;
}

/** Interval of the checks of a flush, seconds: a lost workflow is started again after that. */
export const LEASE_SECONDS = 30;

const WAITING = queuedDestinations('waiting', FIRST_WAREHOUSE);

/**
 * Whether the workflow of a destination must be started, or signalled that the destination has changed. Versions are
 * looked up one by one: a join would read all destinations.
 */
export const UNSTARTED_FLUSH = `(
    exists (select from warehouse_flushes f
            where (select d.version from destinations d where d.id = f.destination_id) is distinct from f.seen_version)
    or exists (
      with recursive ${WAITING}
      select from waiting w where w.id is not null
        and not exists (select from warehouse_flushes f where f.destination_id = w.id)))`;

/**
 * Claims destinations whose workflow must be started or signalled: new ones, those whose record has changed, and those
 * that were not checked for a while. Organizations take turns.
 */
export async function claimFlushes(db: Queryable, limit: number): Promise<DueFlush[]> {
  // Rows are locked while they are claimed and moved ahead in time, so each is claimed by one worker, and comes back
  // when that worker dies before it has started the workflow.
  return sql(db).rows<DueFlush>`
    with recursive ${raw(WAITING)}, begun as (
      insert into warehouse_flushes (destination_id, organization_id, due_at, seen_version)
      select w.id, w.organization_id, now() + make_interval(secs => ${LEASE_SECONDS}),
             (select version from destinations d where d.id = w.id)
      from waiting w
      where not exists (select from warehouse_flushes f where f.destination_id = w.id)
      order by w.id
      on conflict do nothing
      returning destination_id, organization_id
    ), waiting_in_turn as (
      select destination_id, version, changed from (
        select f.destination_id, f.due_at, d.version, d.version is distinct from f.seen_version as changed,
               row_number() over (partition by f.organization_id order by f.due_at) as turn
        from warehouse_flushes f left join destinations d on d.id = f.destination_id
        where f.due_at <= now() or d.version is distinct from f.seen_version
      ) w order by turn, due_at limit ${limit}
    ), found as (
      -- what another worker has claimed meanwhile is not due any more
      select f.destination_id, w.version, w.changed
      from waiting_in_turn w join warehouse_flushes f on f.destination_id = w.destination_id
      where f.due_at <= now() or w.version is distinct from f.seen_version
      for update of f skip locked
    ), due as (
      update warehouse_flushes f
      set due_at = now() + make_interval(secs => ${LEASE_SECONDS}), seen_version = found.version
      from found where f.destination_id = found.destination_id
      returning f.destination_id, f.organization_id, found.changed
    )
    select c.destination_id, c.organization_id, c.changed as has_news,
           (select name from destinations d where d.id = c.destination_id) as destination_name
    from (select destination_id, organization_id, true as changed from begun union all select * from due) c`;
}

// The transaction that wrote a row of the outbox, with the part that `xmin` leaves out: it is the latest of that
// number.
const WRITTEN_BY = `
(l.latest - (l.latest - o.xmin::text::bigint) % 4294967296)::text::xid8`;

/** Adds new deliveries to filling batches. @returns the destinations with a batch that may be full now */
export async function countGains(db: Queryable): Promise<DueFlush[]> {
  // Each check adds what has been committed since the last one: what the snapshot of that did not see. Ids would not
  // tell, because they are given before the commit. A row that was changed meanwhile counts again, so a look comes
  // early, never late. As few wait as one look goes through (core/warehouse/batching.ts), else a batch would be due.
  return sql(db).rows<DueFlush>`
    with latest as (
      select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as latest
    ), due as (
      select organization_id, destination_id, counted_in from warehouse_flushes
      where counted_in is not null and counted_at < now() - interval '0.9 seconds'
      for update skip locked
    ), gain as (
      select d.destination_id, g.*
      from due d cross join latest l cross join lateral (
        select count(*)::int as events, coalesce(sum(e.payload_size), 0) as bytes
        from outbox o left join lateral (select payload_size from events where id = o.event_id limit 1) e on true
        where o.organization_id = d.organization_id and o.destination_id = d.destination_id
          and not pg_visible_in_snapshot(${raw(WRITTEN_BY)}, d.counted_in)
      ) g
    ), counted as (
      update warehouse_flushes f
      set gained_events = f.gained_events + g.events, gained_bytes = f.gained_bytes + g.bytes, counted_at = now(),
          -- a batch that may be full is signalled once
          counted_in = case
            when f.gained_events + g.events < f.needed_events and f.gained_bytes + g.bytes < f.needed_bytes
            then pg_current_snapshot() end
      from gain g where f.destination_id = g.destination_id
      returning f.destination_id, f.organization_id, f.counted_in
    )
    select destination_id, organization_id, true as has_news,
           (select name from destinations d where d.id = c.destination_id) as destination_name
    from counted c where counted_in is null`;
}

/**
 * Stores the filling batches, and how many deliveries are missing until one may be full.
 * @param filling.snapshot from before the look: what it does not see is counted from now on (`takeSnapshot`)
 */
export async function noteFilling(
  db: Queryable,
  { organizationId, destinationId }: WarehouseKey,
  filling: { batches: FillingBatch[]; snapshot: string; neededEvents: number; neededBytes: number },
): Promise<void> {
  const rows = filling.batches.map((batch) => ({ id: newId('bat'), ...batch }));
  // Removes open batches whose deliveries no longer wait (cancelled, deleted).
  await sql(db).run`
    with batch as (
      select * from json_to_recordset(${jsonParameter(rows)}::json) as b(id text, partition text, events int,
        bytes bigint)
    ), gone as (
      delete from warehouse_batches
      where destination_id = ${destinationId} and status = 'open' and partition <> all (select partition from batch)
    ), shown as (
      insert into warehouse_batches (id, organization_id, destination_id, status, partition, events, bytes)
      select id, ${organizationId}, ${destinationId}, 'open', partition, events, bytes from batch order by partition
      on conflict (destination_id, partition) where status = 'open' do update set events = excluded.events,
      bytes = excluded.bytes
    )
    update warehouse_flushes
    set counted_in = ${filling.snapshot}::pg_snapshot, counted_at = now(), gained_events = 0, gained_bytes = 0,
        needed_events = ${filling.neededEvents}, needed_bytes = ${filling.neededBytes}
    where destination_id = ${destinationId}`;
}

export async function takeSnapshot(db: Queryable): Promise<string> {
  return sql(db).value<string>`select pg_current_snapshot()::text`;
}

/** Nothing waits: the workflow ends, and the next delivery starts a new one. An unfinished batch keeps it running. */
export async function endFlush(db: Queryable, { destinationId }: WarehouseKey): Promise<void> {
  await sql(db).run`
    with gone as (delete from warehouse_batches where destination_id = ${destinationId} and status = 'open')
    delete from warehouse_flushes where destination_id = ${destinationId} and not exists (
      select from warehouse_batches where destination_id = ${destinationId} and status in ${raw(UNDER_WAY)})`;
}

/** Records that the workflow knows a version of the destination, and stops the counting until the next check. */
export async function noteSeen(db: Queryable, { destinationId }: WarehouseKey, version: number | null): Promise<void> {
  await sql(db).run`
    update warehouse_flushes set seen_version = ${version}, counted_in = null
    where destination_id = ${destinationId} and (seen_version is distinct from ${version} or counted_in is not null)`;
}
