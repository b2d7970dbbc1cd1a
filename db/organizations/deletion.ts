// Removes everything of deleted organizations, in steps: each is one short transaction that also stores the progress,
// so that a crash loses one step at most. The row of the organization goes last, and says until then that it is being
// deleted.
import { forgetAuditOf } from './audit.ts';
import { removeDeliveries, removeEventsChildren } from '../delivery/deletions.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { Stride, sweep } from '../sql/ranges.ts';
import { fragment, raw, sql } from '../connections/statements.ts';

// Rows of a step, at most.
const EVENTS = new Stride(1000);
const DELIVERIES = new Stride(1000);
const KEYS = new Stride(5000);
const RECORDS = new Stride(100);
const AUDIT = new Stride(5000);
/** After this time, attempts and webhooks that were under way when the organization was deleted have ended. */
const LAST_LOOK = `interval '2 minutes'`;

export interface Deletion {
  organizationId: string;
  eventsRemoved: number;
  /** Nothing was left of it some time ago: if that is still so, its row goes. */
  isLastLook: boolean;
}

/** Those that are due: first what was not tried yet, the oldest request first, then what was tried longest ago. */
export async function dueDeletions(db: Queryable): Promise<Deletion[]> {
  return sql(db).rows<Deletion>`
    select id as organization_id, events_removed, emptied_at is not null as is_last_look
    from organizations
    where suspended_at is not null and deleted_at is not null
      and (emptied_at is null or emptied_at < now() - ${raw(LAST_LOOK)})
    order by deletion_tried_at nulls first, deleted_at`;
}

export async function noteTried(db: Queryable, organizationId: string): Promise<void> {
  await sql(db).run`update organizations set deletion_tried_at = clock_timestamp() where id = ${organizationId}`;
}

export async function noteEmptied(db: Queryable, organizationId: string): Promise<void> {
  await sql(db).run`
    update organizations set emptied_at = now() where id = ${organizationId} and deleted_at is not null`;
}

/** Ends the deletion. What still belongs to it by a foreign key goes with the row. */
export async function removeOrganization(db: Queryable, organizationId: string): Promise<void> {
  await sql(db).run`delete from organizations where id = ${organizationId} and deleted_at is not null`;
}

/** One kind of rows. @returns how many were removed */
type Step = (db: Queryable, organizationId: string, most: number) => Promise<number>;

/**
 * Removes one step. Rows that others are found by go after these.
 * @returns false: nothing was left
 */
export async function removeOfOrganization(pool: Pool, organizationId: string): Promise<boolean> {
  const steps: [Stride, Step][] = [
    [EVENTS, removeEvents],
    [DELIVERIES, removeOrphans],
    [KEYS, removeIdempotencyKeys],
    [RECORDS, removeRecords],
    [AUDIT, forgetAuditOf],
  ];
  for (const [stride, step] of steps) {
    const removed = await stride.step((size) => inTransaction(pool, (db) => counted(db, organizationId, size, step)));
    if (removed > 0) return true;
  }
  if ((await sweepTables(pool, organizationId)) === 0) return false;
  await inTransaction(pool, (db) => noteRemoved(db, organizationId, 0));
  return true;
}

async function counted(db: Queryable, organizationId: string, size: number, step: Step): Promise<number> {
  const removed = await step(db, organizationId, size);
  if (removed > 0) await noteRemoved(db, organizationId, step === removeEvents ? removed : 0);
  return removed;
}

async function noteRemoved(db: Queryable, organizationId: string, events: number): Promise<void> {
  await sql(db).run`
    update organizations set events_removed = events_removed + ${events}, emptied_at = null
    where id = ${organizationId}`;
}

async function removeEvents(db: Queryable, organizationId: string, most: number): Promise<number> {
  const ids = await oldest(db, 'events', organizationId, most);
  if (ids.length === 0) return 0;
  await removeEventsChildren(db, ids);
  await sql(db).run`delete from events where id = any(${ids}::text[]) and id between ${ids[0]} and ${ids.at(-1)}`;
  return ids.length;
}

/** Deliveries without an event: a replay or a failover that was being made while the event was removed. */
async function removeOrphans(db: Queryable, organizationId: string, most: number): Promise<number> {
  const ids = await oldest(db, 'deliveries', organizationId, most);
  if (ids.length > 0) await removeDeliveries(db, ids);
  return ids.length;
}

async function oldest(
  db: Queryable,
  table: 'events' | 'deliveries',
  organizationId: string,
  most: number,
): Promise<string[]> {
  return sql(db).column`
    select id from ${raw(table)} where organization_id = ${organizationId} order by id limit ${most}`;
}

async function removeIdempotencyKeys(db: Queryable, organizationId: string, most: number): Promise<number> {
  // Keys of webhooks name their source only, which may have been deleted before.
  return sql(db).run`
    with source as (
      select id from sources where organization_id = ${organizationId}
      union select source_id from source_purges where organization_id = ${organizationId}
    ), found as (
      select k.source_id, k.key_hash from source s
      cross join lateral (select * from idempotency_keys where source_id = s.id limit ${most}) k limit ${most}
    )
    delete from idempotency_keys k using found f where k.source_id = f.source_id and k.key_hash = f.key_hash`;
}

/** Sources, destinations and routes, with what names them and not the organization. */
async function removeRecords(db: Queryable, organizationId: string, most: number): Promise<number> {
  // Routes first: a source takes its routes with it, however many there are.
  for (const table of ['routes', 'destinations', 'sources']) {
    const ids = await sql(db).column`
      select id from ${raw(table)} where organization_id = ${organizationId} order by id limit ${most} for update`;
    if (ids.length === 0) continue;
    await sql(db).run`
      delete from ${raw(table)} where organization_id = ${organizationId} and id = any(${ids}::text[])`;
    return ids.length;
  }
  return 0;
}

/** @returns how many rows were removed */
async function sweepTables(pool: Pool, organizationId: string): Promise<number> {
  // Every table that names the organization, so that one of a later release is not forgotten. Partitions one by one.
  // Those of events and deliveries have an index for this, and were emptied by it.
  const tables = await sql(pool).column`
    select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname = 'organization_id'
      and not a.attisdropped
      and c.relname <> 'audit_records' -- by its own function; what operators did stays
      and not exists (select from pg_inherits i where i.inhrelid = c.oid and i.inhparent
        in ('events'::regclass, 'deliveries'::regclass))
    order by c.relname`;
  let removed = 0;
  for (const name of tables) removed += await sweep(pool, `"${name}"`, fragment`organization_id = ${organizationId}`);
  return removed;
}
