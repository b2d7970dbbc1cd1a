// The size of the backlog and of the database: read periodically by every API process and by workers that replay, never
// per request.
import type { Plan } from '../../core/config/plans-and-scopes.ts';
import { type BacklogRoom, FULL_FROM, sharedFrom, type Waiting } from '../../core/fairness/backlog-room.ts';
import { payloadDays, type Settings } from '../../core/config/config.ts';
import { type LimitOverrides, limitsOf } from '../../core/fairness/organization-limits.ts';
import { storedParts } from './usage.ts';
import { inSnapshot, type Pool, type Queryable } from '../connections/pool.ts';
import { sql } from '../connections/statements.ts';

const PAGE_BYTES = 8192;
// Upper bounds of the rows on a page: a row has 23 bytes of header, 4 of its pointer, and ids of 31 bytes: five in the
// outbox, in `held_deliveries` and in `ordered_deliveries`, three in `retrying_deliveries`.
const MAX_ROWS_PER_PAGE = 44;
const MAX_RETRYING_PER_PAGE = 68;

/** What a check reads first, whatever the size of the backlog. */
export interface BacklogBounds {
  /** An upper bound of the backlog: dead rows count until their pages are freed. */
  atMost: number;
  smallestLimit: number;
}

interface BoundsRow {
  bytes: number;
  retryingBytes: number;
  kinds: { plan: Plan; limits: LimitOverrides }[] | null;
}

export async function backlogBounds(db: Queryable): Promise<BacklogBounds> {
  const { bytes, retryingBytes, kinds } = await sql(db).only<BoundsRow>`
    select pg_relation_size('outbox') + pg_relation_size('held_deliveries')
             + pg_relation_size('ordered_deliveries') as bytes,
           pg_relation_size('retrying_deliveries') as retrying_bytes,
           (select json_agg(distinct jsonb_build_object('plan', plan, 'limits',
              case when limits ? 'waitingDeliveries'
                then jsonb_build_object('waitingDeliveries', limits -> 'waitingDeliveries') else '{}' end))
            from organizations) as kinds`;
  return {
    atMost: (bytes / PAGE_BYTES) * MAX_ROWS_PER_PAGE + (retryingBytes / PAGE_BYTES) * MAX_RETRYING_PER_PAGE,
    smallestLimit: Math.min(...(kinds ?? []).map(({ plan, limits }) => limitsOf(plan, limits).waitingDeliveries)),
  };
}

interface WaitingRow extends Pick<Waiting, 'total' | 'destinations'> {
  organizations: { id: string; waiting: number }[];
}

/**
 * Counts the backlog: deliveries without a result of their first attempt, those that a circuit holds, those that wait
 * in order, and those that wait for a retry. Less than a second of one core for a million of them, on a busy machine.
 */
export function countWaiting(pool: Pool): Promise<Waiting> {
  return inSnapshot(pool, async (db) => {
    // It may be slow, but must not take more than one core; and it must not sort millions of rows where PostgreSQL's
    // estimate lags behind a backlog that has just grown.
    await sql(db).run`set local max_parallel_workers_per_gather = 0; set local enable_sort = off`;
    // A row of the outbox with `resume` belongs to a workflow. If its delivery is retrying, it is counted there;
    // before its first attempt, as behind a rate limit, here. Organizations and destinations beyond these have less
    // than a thousandth of the backlog each.
    const { total, organizations, destinations } = await sql(db).only<WaitingRow>`
      with counted as (
        select organization_id, destination_id, count(*) as waiting from outbox where resume is null group by 1, 2
        union all
        select organization_id, destination_id, count(*) from outbox o
        where resume is not null and not exists (select from retrying_deliveries r where r.delivery_id = o.delivery_id)
        group by 1, 2
        union all
        select organization_id, destination_id, count(*) from held_deliveries group by 1, 2
        union all
        select organization_id, destination_id, count(*) from ordered_deliveries group by 1, 2
        union all
        select organization_id, destination_id, count(*) from retrying_deliveries group by 1, 2
      ), destination as materialized (
        select organization_id, destination_id, sum(waiting)::bigint as waiting from counted group by 1, 2
      )
      select (select coalesce(sum(waiting), 0)::bigint from destination) as total,
             (select coalesce(json_agg(o), '[]') from (
                select organization_id as id, sum(waiting)::bigint as waiting from destination group by 1
                order by 2 desc limit 1000
              ) o) as organizations,
             (select coalesce(json_agg(d), '[]') from (
                select destination_id as id, organization_id as "organizationId", waiting from destination
                order by waiting desc limit 1000
              ) d) as destinations`;
    return { total, own: new Map(organizations.map(({ id, waiting }) => [id, waiting])), destinations };
  });
}

/** Counts only when somebody could be full; otherwise all that waits counts for nobody. @param limit Infinity: none */
async function readWaiting(pool: Pool, limit: number): Promise<Waiting> {
  const { atMost, smallestLimit } = await backlogBounds(pool);
  if (atMost >= Math.min(limit * FULL_FROM, smallestLimit)) return countWaiting(pool);
  return { total: atMost, own: new Map(), destinations: [] };
}

export type BacklogLimits = Pick<
  Settings,
  | 'HOOKYARD_MAX_BACKLOG'
  | 'HOOKYARD_MAX_DATABASE_BYTES'
  | 'HOOKYARD_PAYLOAD_RETENTION_DAYS'
  | 'HOOKYARD_EVENT_RETENTION_DAYS'
>;

/** Brings what a process knows up to date. @throws a database error; what could not be read stays as it was */
export async function lookAtBacklog(pool: Pool, limits: BacklogLimits, room: BacklogRoom): Promise<void> {
  await room.count(() => readWaiting(pool, room.backlog.limit));
  if (limits.HOOKYARD_MAX_DATABASE_BYTES === undefined) return;
  room.database.limit = limits.HOOKYARD_MAX_DATABASE_BYTES;
  await lookAtDatabase(pool, payloadDays(limits), room);
}

/** Asks whose the database is only when that could refuse somebody. */
async function lookAtDatabase(pool: Pool, payloadDays: number | null, { database }: BacklogRoom): Promise<void> {
  let failure: unknown;
  await database.count(async () => {
    const total = await databaseBytes(pool);
    if (total < sharedFrom(database.limit)) return { total, own: new Map() };
    try {
      const parts = await storedParts(pool, payloadDays);
      return { total, own: new Map(Array.from(parts, ([id, part]) => [id, part * total])) };
    } catch (error) {
      // Failure policy: the size counts in any case, and the parts of the last look stay valid.
      failure = error;
      return { total, own: database.counted.own };
    }
  });
  if (failure !== undefined) throw failure;
}

/** Size of this database on disk, bytes: Hookyard's own, without Temporal's and without WAL. */
export async function databaseBytes(db: Queryable): Promise<number> {
  return sql(db).value<number>`select pg_database_size(current_database())`;
}
