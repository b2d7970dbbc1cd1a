// Adds the entries of the ledger to its roll-ups, and merges old buckets. Each statement moves counts from one place to
// the other, so readers, which add both, see the same before and after it. One process at a time (LOCKS.ledger).
import { HOURS_AFTER_MS, MOST_DAYS } from '../../core/metrics/figure-steps.ts';
import { inTransaction, type Pool } from '../connections/pool.ts';
import { Stride, takeUnlocked, throughPages } from '../sql/ranges.ts';
import { LOCKS } from '../sql/rules.ts';
import { dayOf, LATEST, SUMS } from './entries.ts';
import { type Fragment, fragment, raw, sql } from '../connections/statements.ts';

const ROLLING = new Stride(20_000);
const MERGING = new Stride(1000);
const HOUR_MS = 3_600_000;
// Longer than any question goes back.
const KEPT_DAYS = MOST_DAYS + 2;

const hourOf = (at: string): string => `date_bin('1 hour', ${at}, 'epoch')`;
// What began before it is kept by the hour.
const HOURS_BEFORE = hourOf(`now() - interval '${HOURS_AFTER_MS / HOUR_MS} hours'`);
const FORGOTTEN_BEFORE = `now() - interval '${KEPT_DAYS} days'`;

const KEY = 'organization_id, step, bucket, destination_id, source_id, route_id, code';
const ADDED_UP = [...SUMS, ...LATEST];

/** CTEs that end with `added`: adds the rows of a CTE `moved` to the roll-ups, in the order of the key. */
const ADD = `spread as (
  select ${KEY}, latencies[i][1] as latency, sum(latencies[i][2])::integer as attempts
  from moved, generate_subscripts(latencies, 1) i group by ${KEY}, latency
), histograms as (
  select ${KEY}, array_agg(array[latency, attempts] order by latency) as latencies from spread group by ${KEY}
), sums as (
  select ${KEY}, ${SUMS.map((column) => `coalesce(sum(${column}), 0) as ${column}`).join(', ')},
         ${LATEST.map((column) => `max(${column}) as ${column}`).join(', ')}
  from moved group by ${KEY}
), added as (
  insert into rollups as r (${KEY}, ${ADDED_UP.join(', ')}, latencies)
  select ${KEY}, ${ADDED_UP.join(', ')}, latencies from sums left join histograms using (${KEY})
  order by ${KEY}
  on conflict (${KEY}) do update set
    ${SUMS.map((column) => `${column} = r.${column} + excluded.${column}`).join(', ')},
    ${LATEST.map((column) => `${column} = greatest(r.${column}, excluded.${column})`).join(', ')},
    latencies = add_latencies(r.latencies, excluded.latencies)
)`;

/**
 * Rolls entries up, unless another process does.
 * @returns whether there are more
 * @throws a database error; nothing is moved then
 */
export function rollUp(pool: Pool): Promise<boolean> {
  return ROLLING.step(async (size) => {
    // Each entry counts in its bucket, in all time, and in the day of its organization. Of a deleted organization
    // nothing stays.
    const taken = await sql(pool).value<number>`
      with turn as materialized (
        select pg_try_advisory_xact_lock(${raw(LOCKS.ledger)}) as is_ours
      ), taken as (
        delete from ledger_entries
        where ctid = any(array(select ctid from ledger_entries where (select is_ours from turn) limit ${size}))
        returning *
      ), moved as (
        select t.organization_id, s.*, ${raw(ADDED_UP.map((column) => `t.${column}`).join(', '))}
        from taken t
        join organizations o on o.id = t.organization_id
        cross join lateral (values
          (case when t.bucket < ${raw(HOURS_BEFORE)} then 3600 else 300 end,
           case when t.bucket < ${raw(HOURS_BEFORE)} then ${raw(hourOf('t.bucket'))} else t.bucket end,
           t.destination_id, t.source_id, t.route_id, t.code, t.latencies),
          (0, 'epoch', t.destination_id, t.source_id, t.route_id, least(t.code, 0), null),
          (86400, ${raw(dayOf('t.bucket'))}, '', '', '', -1, null)
        ) s (step, bucket, destination_id, source_id, route_id, code, latencies)
      ), ${raw(ADD)}
      select count(*)::int from taken`;
    return taken === size;
  });
}

// A bucket that is locked just then is merged an hour later.
const TO_MERGE = raw(`((step = 300 and bucket < ${HOURS_BEFORE}) or (step = 3600 and bucket < ${FORGOTTEN_BEFORE}))`);
const merge = (pages: Fragment) => fragment`
  with taken as (
    ${takeUnlocked('rollups', pages, TO_MERGE)}
  ), moved as (
    select organization_id, 3600 as step, ${raw(hourOf('bucket'))} as bucket, destination_id, source_id, route_id, code,
           ${raw(ADDED_UP.join(', '))}, latencies
    from taken where bucket >= ${raw(FORGOTTEN_BEFORE)}
  ), ${raw(ADD)}
  select count(*)::int from taken`;

/** The hours in which this process has merged last: another one may find nothing left. */
const mergedIn = new WeakMap<Pool, number>();

/**
 * Once an hour, merges buckets of 5 minutes that are older than a day into hours, and removes hours that are older than
 * a month.
 * @param forMs stops after this time, ms, when something was merged
 * @returns whether there is more to merge right now
 * @throws a database error; what was merged before it stays merged
 */
export async function mergeRollups(pool: Pool, forMs: number, nowMs: number = Date.now()): Promise<boolean> {
  const until = performance.now() + forMs;
  const hour = Math.floor(nowMs / HOUR_MS);
  if (hour <= (mergedIn.get(pool) ?? 0)) return false;
  const isDone = await throughPages(
    pool,
    'rollups',
    MERGING,
    (pages) =>
      inTransaction(pool, async (db) => {
        await sql(db).run`select pg_advisory_xact_lock(${LOCKS.ledger})`;
        return sql(db).value<number>`${merge(pages)}`;
      }),
    (merged) => merged === 0 || performance.now() < until,
  );
  if (isDone) mergedIn.set(pool, hour);
  return !isDone;
}
