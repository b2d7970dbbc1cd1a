// Work that must continue according to this database: read by the reconciliation, which compares it with Temporal
// (activities/reconciliation/), and repaired.
import { idFloor, shardOf } from '../../core/text/ids.ts';
import type { ResumedDelivery } from '../../core/delivery/delivery.ts';
import {
  databaseTime,
  heldRow,
  OPEN,
  outboxRow,
  toOutbox,
  UNDER_WAY,
  WAITING_STATUS,
  WAKE_RELAYS,
  hops,
  pauseBlocks,
  WAKE_CIRCUITS,
} from '../sql/rules.ts';
import { bounds, rowsParameter, among, raw, sql } from '../connections/statements.ts';
import type { Queryable } from '../connections/pool.ts';

/** How long after its time a delivery counts as overdue, ms: more than an attempt with its usual delays takes. */
const OVERDUE_MS = 120_000;

export interface OverdueDelivery {
  deliveryId: string;
  organizationId: string;
  destinationId: string;
}

export interface Overdue {
  overdue: OverdueDelivery[];
  /** Where the next look continues; null: there is nothing more. */
  next: string | null;
}

/**
 * Open deliveries that only wait for their workflow, and for too long; in order of their ids. The age of a delivery
 * from a process whose clock is ahead is unknown, so it counts as overdue: an extra check is harmless.
 * @param after skips ids up to this one
 * @param most how many deliveries are looked at
 */
export async function overdueDeliveries(db: Queryable, after: string, most: number): Promise<Overdue> {
  const now = await databaseTime(db);
  // Only a workflow continues these (delivery-commands.ts). Rows of deliveries that have ended are removed on the way.
  type Page = { last: string | null; read: number; overdue: OverdueDelivery[] };
  const { last, read, overdue } = await sql(db).only<Page>`
    with page as materialized (
      select w.delivery_id, d.* from (
        select delivery_id from retrying_deliveries where delivery_id > ${after} order by delivery_id limit ${most}
      ) w
      left join lateral (
        select id, organization_id, destination_id, route_id, priority, source_id, batch_id, next_attempt_at
        from deliveries d where d.id = w.delivery_id and d.status in ${raw(OPEN)} offset 0
      ) d on true
    ), ended as (
      delete from retrying_deliveries where delivery_id in (select delivery_id from page where id is null)
    )
    select (select max(delivery_id) from page) as last, (select count(*)::int from page) as read,
           coalesce(json_agg(json_build_object(
             'deliveryId', d.id, 'organizationId', d.organization_id, 'destinationId', d.destination_id)
             order by d.id), '[]') as overdue
    from page d
    where case when d.next_attempt_at is null
        then d.id < ${idFloor('dlv', now - OVERDUE_MS)} or d.id > ${idFloor('dlv', now + OVERDUE_MS)}
        else d.next_attempt_at < now() - make_interval(secs => ${OVERDUE_MS / 1000}) end
      and not exists (select from outbox o where ${raw(outboxRow('d'))})
      and not exists (select from held_deliveries h where ${raw(heldRow('d'))})
      and not exists (select from warehouse_batches b where b.id = d.batch_id and b.status in ${raw(UNDER_WAY)})
      and exists (select from sources s where s.id = d.source_id)`;
  return { overdue, next: read < most ? null : last };
}

export interface Requeue {
  deliveryId: string;
  resume: 'lost' | 'ended';
}

const REQUEUED = {
  ...{ delivery_id: 'd.id', failover_of: 'd.failover_of' },
  ...{ order_hash: 'd.order_hash', resume: 'd.resume' },
};

/** Puts open deliveries back into the outbox. @returns the ids of those that are open */
export async function requeueDeliveries(db: Queryable, deliveries: Requeue[]): Promise<Set<string>> {
  if (deliveries.length === 0) return new Set();
  const ids = deliveries.map(({ deliveryId }) => deliveryId);
  const input = deliveries.map((each) => ({ ...each, shard: shardOf(each.deliveryId) }));
  // A delivery that has ended since the check stays ended. For one that is already in the outbox only `resume` is set.
  // `|| ''` keeps the join from pruning partitions (hot-path/record-results.ts).
  return new Set(
    await sql(db).column`
      with input as (
        select * from json_to_recordset(${rowsParameter(input)}::json) as i(delivery_id text, resume text, shard int)
      ), open as (
        update deliveries d set status = ${raw(WAITING_STATUS)}, batch_id = null
        from input i
        where d.id || '' = i.delivery_id and ${among('d.id', ids)} and d.status in ${raw(OPEN)}
        returning d.id, d.organization_id, d.event_id, d.source_id, d.route_id, d.destination_id, d.priority,
          d.failover_of, d.order_hash, i.resume, i.shard
      ), queued as (
        ${raw(toOutbox('d', REQUEUED))}
        from open d
        order by organization_id, destination_id, priority desc, id
        on conflict (organization_id, destination_id, priority, delivery_id) do update set resume = excluded.resume
      )
      select id, ${raw(WAKE_RELAYS)} from open`,
  );
}

/** Where deliveries continue; one that is not open is missing. */
export async function resumePoints(db: Queryable, deliveryIds: string[]): Promise<Map<string, ResumedDelivery>> {
  if (deliveryIds.length === 0) return new Map();
  const rows = await sql(db).rows<ResumedDelivery & { id: string }>`
    select id, attempt_count as attempts, status_code, error_summary as error,
           greatest(0, ceil(extract(epoch from next_attempt_at - now()) * 1000))::float8 as wait_ms
    from deliveries where ${among('id', deliveryIds)} and status in ${raw(OPEN)}`;
  return new Map(rows.map(({ id, ...point }) => [id, { ...point, waitMs: point.waitMs ?? 0 }]));
}

export async function makeDue(
  db: Queryable,
  { organizationId, deliveryId }: { organizationId: string; deliveryId: string },
): Promise<void> {
  await sql(db).run`
    update deliveries set next_attempt_at = now() where id = ${deliveryId} and organization_id = ${organizationId}
      and status = 'retrying' and next_attempt_at > now()`;
}

export async function isOpen(db: Queryable, deliveryId: string): Promise<boolean> {
  return sql(db).any`select from deliveries where id = ${deliveryId} and status in ${raw(OPEN)}`;
}

export type Notice =
  | { deliveryId: string; says: 'gone' }
  | { deliveryId: string; says: 'replayed'; replayedAs: string }
  | { deliveryId: string; says: 'ended' };

/**
 * Deliveries whose workflow runs although it should not, or does not know how its delivery has ended.
 * @param running with the status that the workflow shows
 */
export async function noticesFor(
  db: Queryable,
  running: { deliveryId: string; shows: string | null }[],
): Promise<Notice[]> {
  if (running.length === 0) return [];
  const { ids, low, high } = bounds(running.map(({ deliveryId }) => deliveryId));
  const shown = running.map(({ shows }) => shows);
  // `counted` is taken from a failed delivery when it is replayed, so only those need the search for their replay.
  return sql(db).rows<Notice>`
    select w.id as delivery_id, r.id as replayed_as,
           case when d.id is null or s.id is null then 'gone' when r.id is not null then 'replayed'
             else 'ended' end as says
    from unnest(${ids}::text[], ${shown}::text[]) as w(id, shows)
    left join lateral (select * from deliveries where id = w.id and id between ${low} and ${high} limit 1) d on true
    left join sources s on s.id = d.source_id
    left join lateral (
      select id from deliveries where event_id = d.event_id and replay_of = d.id
      order by status = 'skipped', id limit 1
    ) r on d.status = 'failed' and not d.counted
    where d.id is null or s.id is null or r.id is not null
       or (d.status not in ${raw(OPEN)} and d.finished_at < now() - make_interval(secs => ${OVERDUE_MS / 1000})
           -- one that has failed waits for a replay, when it knows
           and (d.status <> 'failed' or w.shows is distinct from 'failed'))`;
}

/** Claims the listing of all running workflows. @returns false when that was done less than `everyMs` ago */
export async function claimListing(db: Queryable, everyMs: number): Promise<boolean> {
  return sql(db).any`
    update upkeep set last_at = now() where kind = 'listing'
      and last_at < now() - make_interval(secs => ${everyMs / 1000})`;
}

export async function countRepairs(db: Queryable, repairs: Record<string, number>): Promise<void> {
  const kinds = Object.keys(repairs).toSorted();
  if (kinds.length === 0) return;
  await sql(db).run`
    insert into upkeep as u (kind, part, total, last_at)
    select 'repair', part, total, now()
    from unnest(${kinds}::text[], ${kinds.map((kind) => repairs[kind])}::bigint[]) as repaired(part, total)
    on conflict (kind, part) do update set total = u.total + excluded.total, last_at = excluded.last_at`;
}

// Rows whose wake-up time was lost. Normally a lease wakes each (docs/internals/path-of-a-webhook.md).

/** Circuits that are not closed, and pauses, that only their workflow can continue; in order of their ids. */
export async function sleepingCircuits(db: Queryable, after: string, limit: number): Promise<string[]> {
  return sql(db).column`
    select route_id as id from circuits c
    where wake_at is null and (state <> 'closed' or ${raw(pauseBlocks('c'))}) and route_id > ${after}
    order by route_id limit ${limit}`;
}

/**
 * Makes a worker start the workflows of circuits, even when one is about to sleep.
 * @returns those without a wake-up time
 */
export async function wakeCircuits(db: Queryable, routeIds: string[]): Promise<string[]> {
  if (routeIds.length === 0) return [];
  return sql(db).column`
    with asleep as (
      -- in the order in which results change them (db/circuits/circuits.ts), so that neither waits for the other
      select route_id from circuits where route_id = any(${routeIds}::text[]) and wake_at is null
      order by route_id for update
    )
    update circuits c set version = version + 1, wake_at = now() from asleep a where c.route_id = a.route_id
    returning c.route_id as id, ${raw(WAKE_CIRCUITS)}`;
}

/** Starts the release of deliveries that are held by a closed or deleted circuit. @returns the routes */
export async function wakeForgottenHolds(db: Queryable): Promise<string[]> {
  // A circuit that releases has a time to be woken until nothing is held.
  return sql(db).column`
    with recursive ${raw(hops('route', 'held_deliveries', 'route_id'))}
    insert into circuits as c (route_id, organization_id, state, version, wake_at)
    select r.id, (select organization_id from held_deliveries where route_id = r.id limit 1), 'closed', 1, now()
    from route r left join circuits known on known.route_id = r.id
    where r.id is not null and (known.route_id is null or (known.state = 'closed' and known.wake_at is null))
    order by r.id
    on conflict (route_id) do update set version = c.version + 1, wake_at = now()
      where c.state = 'closed' and c.wake_at is null
    returning route_id as id, ${raw(WAKE_CIRCUITS)}`;
}

/** Schedules warehouses that have an unfinished batch but no wake-up. @returns the destinations */
export async function wakeForgottenBatches(db: Queryable): Promise<string[]> {
  return sql(db).column`
    insert into warehouse_flushes (destination_id, organization_id, due_at)
    select distinct on (destination_id) destination_id, organization_id, now() from warehouse_batches b
    where b.status in ${raw(UNDER_WAY)}
      and not exists (select from warehouse_flushes f where f.destination_id = b.destination_id)
    order by destination_id
    on conflict do nothing returning destination_id as id`;
}
