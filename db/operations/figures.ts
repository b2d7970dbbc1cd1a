// The figures of the whole installation, for metrics. One process at a time takes them, with a rest in between that
// grows with what it took (telemetry/sampler.ts), and writes them to a row that all read.
//
// What it costs: the rows of the outbox, `held_deliveries`, `ordered_deliveries` and `retrying_deliveries` are counted,
// a second of one core for a few millions of them; HOOKYARD_MAX_BACKLOG bounds how many there are. The rest reads a few
// rows by an index, or sizes of files, whatever is stored.
import type { Figures } from '../../core/metrics/snapshot.ts';
import { jsonParameter, raw, sql } from '../connections/statements.ts';
import { inSnapshot, type Pool, type Queryable } from '../connections/pool.ts';
import { SEEN } from '../hot-path/shards.ts';
import { DAY_MS, TABLES } from '../sql/partitions.ts';
import { databaseTime, FIRST_WAREHOUSE, UNDER_WAY } from '../sql/rules.ts';
import { type RetentionDays, retentionLag } from './retention.ts';

// Due is what a relay may start now. What waits for a file, for its organization or for a rate limit is not; a row that
// is `waiting` has a workflow, which waits for the rate limit. What waits in all is what `countWaiting` counts
// (db/organizations/backlog.ts).
const WAITING = `
with queue as (
  select count(*) filter (where resume is null or not exists (
           select from retrying_deliveries r where r.delivery_id = o.delivery_id)) as queued,
         count(*) filter (where is_due) as due, min(entered_at) filter (where is_due) as oldest
  from outbox o cross join lateral (
    select o.resume is distinct from 'waiting' and o.destination_id < ${FIRST_WAREHOUSE}
      and o.organization_id not in (select id from organizations where suspended_at is not null)
      and o.destination_id not in (select destination_id from rate_limits where next_at > now()) as is_due
  ) d
), held as (
  select count(*) as held from held_deliveries
), ordered as (
  select count(*) as ordered from ordered_deliveries
), retrying as (
  select count(*) as retrying from retrying_deliveries
)
select (queued + held + ordered + retrying)::float8 as waiting, due::float8, held::float8, retrying::float8,
       ordered::float8 as "waitingInOrder",
       coalesce(greatest(0, extract(epoch from now() - oldest)), 0)::float8 as "oldestDueAge"
from queue, held, ordered, retrying`;

// Each by the index of its files, among all that were ever written. One that fills is made with its first delivery.
const OLDEST_FILE = `
select coalesce(greatest(0, extract(epoch from now() - least(
  (select min(created_at) from warehouse_batches where status = 'open'),
  (select min(waiting_since) from warehouse_batches where status in ${UNDER_WAY})))),
    0)::float8 as "warehouseOldestOpen"`;

const STATEMENTS = [
  WAITING,
  `select json_build_object('open', count(*) filter (where state = 'open'),
                            'half_open', count(*) filter (where state = 'half_open')) as circuits
   from circuits where state <> 'closed'`,
  `select coalesce(json_object_agg(kind, issues), '{}') as issues from (
     select kind, count(*) as issues from issues where state in ('open', 'acknowledged') group by kind) counted`,
  `select count(*)::float8 as replays from event_replays where due_at is not null`,
  `select count(*)::float8 as "blockedKeys",
          coalesce(greatest(0, extract(epoch from now() - min(blocked_at))), 0)::float8 as "oldestBlockedKey"
   from order_keys where hold_until is not null`,
  OLDEST_FILE,
  `select count(*)::float8 as workers from workers where lane is not null and ${SEEN}`,
  `select pg_database_size(current_database())::float8 as "databaseBytes"`,
];

/** How long the removal of the oldest data is overdue. */
async function retention(db: Queryable, settings: RetentionDays): Promise<Figures> {
  const now = await databaseTime(db);
  const overdue: number[] = [];
  for (const table of TABLES) {
    const { lagDays } = await retentionLag(db, table, settings, now);
    overdue.push(lagDays > 0 ? (lagDays - 1) * DAY_MS + (now % DAY_MS) : 0);
  }
  return { retentionLag: Math.max(...overdue) / 1000 };
}

/**
 * Takes all figures, one after the other.
 * Failure policy: one that cannot be taken is missing, and `onError` is told; the others are taken.
 * @param ending when it is aborted, the rest is left out
 */
export async function takeFigures(
  pool: Pool,
  settings: RetentionDays,
  onError: (error: unknown) => void,
  ending?: AbortSignal,
): Promise<Figures> {
  const take = (statement: string) =>
    inSnapshot(pool, async (db) => {
      // It may be slow, but must not take more than one core.
      await sql(db).run`set local max_parallel_workers_per_gather = 0`;
      return (await db.query<Figures>(statement)).rows[0];
    });
  const figures: Figures = {};
  for (const part of [...STATEMENTS.map((statement) => () => take(statement)), () => retention(pool, settings)]) {
    if (ending?.aborted) break;
    try {
      Object.assign(figures, await part());
    } catch (error) {
      onError(error);
    }
  }
  return figures;
}

// Figures of the future were taken before the clock was set back.
const IS_DUE = `(next_at <= now() or last_at > now() + interval '1 minute')`;

export interface Snapshot {
  figures: Figures;
  /** By the clock of the database, ms; null before the first ones. */
  ageMs: number | null;
  isDue: boolean;
}

export async function readSnapshot(db: Queryable): Promise<Snapshot> {
  const found = await sql(db).first<Snapshot>`
    select figures, ${raw(IS_DUE)} as is_due,
           case when last_at > '-infinity' then (extract(epoch from now() - last_at) * 1000)::float8 end as age_ms
    from upkeep where kind = 'figures'`;
  return found ?? { figures: {}, ageMs: null, isDue: false };
}

/**
 * Claims the next figures. Of several processes one succeeds: the others find the row changed when they get its lock.
 * @param forMs how long the claim holds; if the process dies, another one claims afterwards
 */
export async function claimSnapshot(db: Queryable, by: string, forMs: number): Promise<boolean> {
  return sql(db).any`
    update upkeep
    set next_at = now() + make_interval(secs => ${forMs}::float8 / 1000), taken_by = ${by},
        last_at = least(last_at, now())
    where kind = 'figures' and ${raw(IS_DUE)}`;
}

/** A claim that has run out and was given to another process writes nothing. */
export async function writeSnapshot(db: Queryable, by: string, figures: Figures, restMs: number): Promise<void> {
  await sql(db).run`
    update upkeep
    set figures = ${jsonParameter(figures)}, last_at = clock_timestamp(),
        next_at = clock_timestamp() + make_interval(secs => ${restMs}::float8 / 1000)
    where kind = 'figures' and taken_by = ${by}`;
}

/** Gives a claim back: another process takes the figures at once. */
export async function releaseSnapshot(db: Queryable, by: string): Promise<void> {
  await sql(db).run`update upkeep set next_at = now(), taken_by = null where kind = 'figures' and taken_by = ${by}`;
}
