// Settling: counts rows that are old enough once, so that lists need not count them at each request (db/schema/07-counts.sql). Only the
// speed of the lists depends on it: unsettled rows are counted row by row, with the same result.
import { idFloor } from '../../../core/ids.ts';
import { inTransaction, type Pool, type Queryable } from '../../connections/pool.ts';
import { type Pages, Stride, sweep, throughPages } from '../../ranges.ts';
import { LOCKS } from '../../sql-rules.ts';
import { GRACE_MS } from './late.ts';

const HOUR_MS = 3_600_000;

// How long settling waits for transactions that began inside the grace period. If one takes longer, settling is retried in the
// next round.
const WAIT_MS = 5000;
const LOOK_AGAIN_MS = 50;
// Size of one statement: in time, ms, and in pages.
const COUNTING = new Stride(HOUR_MS);
const FOLDING = new Stride(1000);

// What is counted of rows and changes, by the three spans.
const ADD = `
insert into history_counts as c (organization_id, kind, span, start, source_id, route_id, destination_id, status, routed, total)
select m.organization_id, m.kind, span.name, date_bin(span.width, m.at, 'epoch'), m.source_id,
       case when span.whole then m.route_id else '' end, case when span.whole then m.destination_id else '' end, m.status, m.routed,
       sum(m.total)
from moved m join sources s on s.id = m.source_id
cross join (values ('hour', interval '1 hour', true), ('day', interval '1 day', true), ('source-day', interval '1 day', false)) as span(name, width, whole)
where m.kind = 'delivery' or span.name <> 'day'
group by 1, 2, 3, 4, 5, 6, 7, 8, 9 having sum(m.total) <> 0
on conflict (organization_id, kind, span, start, source_id, route_id, destination_id, status, routed) do update
  set total = c.total + excluded.total`;

// One statement, so one snapshot: the rows that are counted, the changes that are dropped and the cut between settled and not
// settled agree. A change that commits later stays in history_changes and is added by readers. Changes of rows of this step are
// part of the count, so they are dropped.
const SETTLE = `
with step as (
  update history_progress set settled_before = $2 where settled_before = $1 returning 1
), counted as (
  delete from history_changes
  where ((id >= $3 and id < $4) or (id >= $5 and id < $6)) and exists (select from step)
), moved as (
  select organization_id, 'event' as kind, $1::timestamptz as at, source_id, '' as route_id, '' as destination_id, status, routed, count(*) as total
  from events where id >= $3 and id < $4 and exists (select from step) group by organization_id, source_id, status, routed
  union all
  select organization_id, 'delivery', $1, source_id, coalesce(route_id, ''), destination_id, status, true, count(*)
  from deliveries where id >= $5 and id < $6 and exists (select from step) group by organization_id, source_id, route_id, destination_id, status
)
${ADD}`;

// Changes of rows that are settled, some pages at a time: the sum is the same in any order. By pages, because with an index each
// piece would first skip the dead entries of the earlier pieces.
const FOLD = `
with late as (
  delete from history_changes
  where ctid >= $1::tid and ctid < $2::tid and (id < $3 or (id >= 'evt' and id < $4)) returning *
), moved as (
  select organization_id, case when id like 'evt%' then 'event' else 'delivery' end as kind, id_time(id) as at, source_id, route_id,
         destination_id, status, routed, change as total
  from late
), added as (
  ${ADD}
)
select count(*)::int as folded from late`;

/** Progress of settling. */
export interface Settled {
  /** Rows made before this are settled. */
  before: Date;
  /** False when there is more to settle right now. */
  caughtUp: boolean;
}

/**
 * Settles what is old enough, hour by hour, oldest first.
 * @param forMs starts no further hour after this time, ms
 * @param waitMs how long to wait for running transactions
 * @returns null when another process settles, or a transaction of the grace period is still running
 * @throws a database error; every hour that was settled before it stays settled
 */
export async function settleHistory(pool: Pool, forMs: number, waitMs: number = WAIT_MS): Promise<Settled | null> {
  const until = performance.now() + forMs;
  return inTransaction(pool, async (holder) => {
    const { rows } = await holder.query<{ locked: boolean }>('select pg_try_advisory_xact_lock($1) as locked', [
      LOCKS.settling,
    ]);
    if (!rows[0]?.locked) return null;
    let before = await settledBefore(pool);
    const isFolded = await fold(pool, before, until);
    const target = await reachable(pool, waitMs);
    if (target === null) return null;
    while (before.getTime() < target && performance.now() < until) before = await settleStep(pool, before, target);
    return { before, caughtUp: isFolded && before.getTime() >= target };
  });
}

/** Rows created before this are in history_counts, except for the changes in history_changes. */
export async function settledBefore(db: Queryable): Promise<Date> {
  const { rows } = await db.query<{ settled_before: Date }>('select settled_before from history_progress');
  if (!rows[0]) throw new Error('history_progress has no row; db/schema/07-counts.sql puts one in');
  return rows[0].settled_before;
}

/** Removes the counts of a range of whole days whose rows are removed in the same transaction. */
export async function forgetCounts(
  db: Queryable,
  kind: 'event' | 'delivery',
  fromMs: number,
  toMs: number,
): Promise<void> {
  const prefix = kind === 'event' ? 'evt' : 'dlv';
  await db.query('select pg_advisory_xact_lock($1)', [LOCKS.settling]);
  await db.query('delete from history_counts where kind = $1 and start >= $2 and start < $3', [
    kind,
    new Date(fromMs),
    new Date(toMs),
  ]);
  await db.query('delete from history_changes where id >= $1 and id < $2', [
    idFloor(prefix, fromMs),
    idFloor(prefix, toMs),
  ]);
}

/** Removes the counts of a deleted source, when its last row is gone. Not inside a transaction: it runs many statements. */
export async function forgetCountsOfSource(pool: Pool, sourceId: string): Promise<void> {
  await sweep(pool, 'history_counts', 'source_id = $3', [sourceId]);
  await sweep(pool, 'history_changes', 'source_id = $3', [sourceId]);
}

// A change that was not recorded because of the row's age was written before `at`, by a transaction with a lower id than `xid`.
// When all of those have ended, their changes are in every later snapshot.
async function reachable(pool: Pool, waitMs: number): Promise<number | null> {
  const { rows } = await pool.query<{ at: Date; xid: string }>(
    'select clock_timestamp() as at, pg_current_xact_id()::text as xid',
  );
  const { at, xid } = rows[0] ?? { at: new Date(0), xid: '0' };
  const giveUpAt = performance.now() + waitMs;
  for (;;) {
    const { rows: running } = await pool.query<{ ended: boolean }>(
      'select pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8 as ended',
      [xid],
    );
    if (running[0]?.ended) return at.getTime() - GRACE_MS;
    if (performance.now() > giveUpAt) return null;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}

/** Settles the next piece up to `target`, at most to the end of the hour. */
function settleStep(pool: Pool, from: Date, target: number): Promise<Date> {
  const endOfHour = (Math.floor(from.getTime() / HOUR_MS) + 1) * HOUR_MS;
  return COUNTING.step(async (ms) => {
    const to = new Date(Math.min(target, endOfHour, from.getTime() + ms));
    const bounds = (['evt', 'dlv'] as const).flatMap((prefix) => [
      idFloor(prefix, from.getTime()),
      idFloor(prefix, to.getTime()),
    ]);
    await pool.query(SETTLE, [from, to, ...bounds]);
    return to;
  });
}

/** Folds the changes of what is settled into the counts. @returns whether time sufficed */
function fold(pool: Pool, before: Date, until: number): Promise<boolean> {
  const ends = (['dlv', 'evt'] as const).map((prefix) => idFloor(prefix, before.getTime()));
  const look = async ({ from, to }: Pages) => {
    const { rows } = await pool.query<{ folded: number }>(FOLD, [from, to, ...ends]);
    return rows[0]?.folded ?? 0;
  };
  return throughPages(pool, 'history_changes', FOLDING, look, (folded) => folded === 0 || performance.now() < until);
}
