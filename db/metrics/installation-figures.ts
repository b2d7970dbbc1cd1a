// Takes the figures of the whole installation. All of it is of one process at a time (snapshot.ts), with a rest in between that
// grows with what it took (telemetry/sampler.ts).
//
// What it costs: the rows of the outbox, of `held_deliveries` and of `retrying_deliveries` are counted, a second of one core for a
// few millions of them; HOOKYARD_MAX_BACKLOG bounds how many there are. The rest reads a few rows by an index, or sizes of files,
// whatever is stored.
import type { Settings } from '../../core/config/config.ts';
import type { IssueKind } from '../../core/messages/issues.ts';
import type { Figures } from '../../core/metrics/snapshot.ts';
import { payloadDays } from '../../core/config/payload-days.ts';
import { databaseTime } from '../clock.ts';
import { databaseBytes } from '../delivery/backlog.ts';
import { countLanes } from '../hot-path/shards.ts';
import { inSnapshot, type Pool, type Queryable } from '../connections/pool.ts';
import { DAY_MS, daysBefore, type PartitionedTable } from '../retention/partitions.ts';
import { FIRST_WAREHOUSE, UNDER_WAY } from '../sql-rules.ts';

// Due is what a relay may start now. What waits for a file, for its organization or for a rate limit is not; a row that is `waiting`
// has a workflow, which waits for the rate limit. What waits in all is what `countWaiting` counts (db/delivery/backlog.ts).
const WAITING = `
with queue as (
  select count(*) filter (where resume is null or not exists (select from retrying_deliveries r where r.delivery_id = o.delivery_id)) as queued,
         count(*) filter (where is_due) as due, min(entered_at) filter (where is_due) as oldest
  from outbox o cross join lateral (
    select o.resume is distinct from 'waiting' and o.destination_id < ${FIRST_WAREHOUSE}
      and o.organization_id not in (select id from organizations where suspended_at is not null)
      and o.destination_id not in (select destination_id from rate_limits where next_at > now()) as is_due
  ) d
), held as (
  select count(*) as held from held_deliveries
), retrying as (
  select count(*) as retrying from retrying_deliveries
)
select (queued + held + retrying)::float8 as waiting, due::float8 as due, held::float8 as held, retrying::float8 as retrying,
       coalesce(greatest(0, extract(epoch from now() - oldest)), 0)::float8 as "oldestDueAge"
from queue, held, retrying`;

function waiting(pool: Pool): Promise<Figures> {
  return inSnapshot(pool, async (db) => {
    // It may be slow, but must not take more than one core.
    await db.query('set local max_parallel_workers_per_gather = 0');
    const { rows } = await db.query<Figures>(WAITING);
    return rows[0] ?? {};
  });
}

async function circuits(db: Queryable): Promise<Figures> {
  const { rows } = await db.query<{ open: number; half_open: number }>(
    `select count(*) filter (where state = 'open')::float8 as open, count(*) filter (where state = 'half_open')::float8 as half_open
     from circuits where state <> 'closed'`,
  );
  return { circuits: rows[0] };
}

async function issues(db: Queryable): Promise<Figures> {
  const { rows } = await db.query<{ kind: IssueKind; issues: number }>(
    `select kind, count(*)::float8 as issues from issues where state in ('open', 'acknowledged') group by kind`,
  );
  return { issues: Object.fromEntries(rows.map(({ kind, issues: count }) => [kind, count])) };
}

async function replays(db: Queryable): Promise<Figures> {
  const { rows } = await db.query<{ replays: number }>(
    'select count(*)::float8 as replays from event_replays where due_at is not null',
  );
  return { replays: rows[0]?.replays };
}

// Each by the index of its files, among all that were ever written. One that fills is made with its first delivery.
const OLDEST_FILE = `
select coalesce(greatest(0, extract(epoch from now() - least(
  (select min(created_at) from warehouse_batches where status = 'open'),
  (select min(waiting_since) from warehouse_batches where status in ${UNDER_WAY})))), 0)::float8 as age`;

async function warehouses(db: Queryable): Promise<Figures> {
  const { rows } = await db.query<{ age: number }>(OLDEST_FILE);
  return { warehouseOldestOpen: rows[0]?.age };
}

export type RetentionDays = Pick<Settings, 'HOOKYARD_PAYLOAD_RETENTION_DAYS' | 'HOOKYARD_EVENT_RETENTION_DAYS'>;

/** For how long the oldest partition should have been dropped: it is kept for whole days after its own (docs/retention.md). */
async function retention(db: Queryable, settings: RetentionDays): Promise<Figures> {
  const now = await databaseTime(db);
  const today = Math.floor(now / DAY_MS);
  const eventDays = settings.HOOKYARD_EVENT_RETENTION_DAYS || null;
  const kept: [PartitionedTable, number | null][] = [
    ['event_payloads', payloadDays(settings)],
    ['attempts', eventDays],
    ['deliveries', eventDays],
    ['events', eventDays],
  ];
  let lagMs = 0;
  for (const [table, days] of kept) {
    const [oldest] = days === null ? [] : await daysBefore(db, table, today - days);
    if (oldest !== undefined && days !== null) lagMs = Math.max(lagMs, now - (oldest + days + 1) * DAY_MS);
  }
  return { retentionLag: lagMs / 1000 };
}

async function workers(db: Queryable): Promise<Figures> {
  const { workflow, express } = await countLanes(db);
  return { workers: workflow + express };
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
  const parts: (() => Promise<Figures>)[] = [
    () => waiting(pool),
    () => circuits(pool),
    () => issues(pool),
    () => replays(pool),
    () => warehouses(pool),
    () => retention(pool, settings),
    () => workers(pool),
    async () => ({ databaseBytes: await databaseBytes(pool) }),
  ];
  const figures: Figures = {};
  for (const part of parts) {
    if (ending?.aborted) break;
    try {
      Object.assign(figures, await part());
    } catch (error) {
      onError(error);
    }
  }
  return figures;
}
