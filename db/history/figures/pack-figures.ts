// Packs the figures of organizations and the latencies of destinations: one row for each owner and bucket instead of
// one for each key, in steps of 5 minutes, an hour and a day, so that a question reads as many rows as it has steps. A transaction
// moves rows from the tables that statements add to, so readers, which add both, see the same before and after it.
import { DAYS_AFTER_MS, HOURS_AFTER_MS, type KeptStep, MOST_DAYS } from '../../../core/figure-steps.ts';
import { percentilesOf } from '../../../core/latency-classes.ts';
import { PackedSums } from '../../../core/packed-sums.ts';
import { databaseTime } from '../../clock.ts';
import { inTransaction, type Pool, type Queryable } from '../../connections/pool.ts';
import { FIGURES } from '../../delivery/count-figures.ts';
import { type Pages, Stride, sweep, takeUnlocked, throughPages } from '../../ranges.ts';
import { LOCKS } from '../../sql-rules.ts';

// Buckets that began so long ago get no more counts, or hardly any.
const AFTER = `interval '10 minutes'`;
// Pages that one transaction goes through.
const PACKING = new Stride(50);
const HOUR_MS = 3_600_000;
const KEPT_MS = (MOST_DAYS + 2) * 24 * HOUR_MS;

/** A table that statements add to, and the one that it is packed into. */
interface Roll {
  from: string;
  to: string;
  /** Whose they are. */
  owner: 'organization_id' | 'destination_id';
  /** Numbers of a key, and its sums. */
  shape: [parts: number, sums: number];
  /** How long buckets of each step (s) are kept, ms. */
  kept: Record<KeptStep, number>;
  /** A column for what all counts of a row are together. */
  total?: { column: string; of: (counts: number[]) => number };
  /** A key and its sums, of each row. */
  entries: (db: Queryable, rows: Row[], packedOn: Date) => Promise<number[][]>;
}

interface Row {
  organization_id: string;
  destination_id: string;
  route_id: string;
  source_id: string;
  bucket: Date;
  [column: string]: unknown;
}

export const FIGURES_SHAPE: [number, number] = [2, FIGURES.length];
const LATENCY_SHAPE: [number, number] = [1, 1];

const ROLLS: Roll[] = [
  {
    ...{ from: 'delivery_figures', to: 'figure_history', owner: 'organization_id', shape: FIGURES_SHAPE },
    kept: { 300: HOURS_AFTER_MS + HOUR_MS, 3600: DAYS_AFTER_MS + 24 * HOUR_MS, 86400: KEPT_MS },
    entries: figureEntries,
  },
  {
    ...{ from: 'latency_stats', to: 'latency_history', owner: 'destination_id', shape: LATENCY_SHAPE },
    total: { column: 'attempts', of: (counts) => percentilesOf([counts], []).attempts },
    // The health of a destination is asked for whole hours of up to a month.
    kept: { 300: HOURS_AFTER_MS + HOUR_MS, 3600: KEPT_MS, 86400: KEPT_MS },
    entries: (_db, rows) => Promise.resolve(rows.map(({ latency, attempts }) => [Number(latency), Number(attempts)])),
  },
];

/**
 * @param forMs stops after this time, ms, when something was packed
 * @returns whether time sufficed
 * @throws a database error; what was packed before it stays packed
 */
export async function packFigures(pool: Pool, forMs: number): Promise<boolean> {
  const until = performance.now() + forMs;
  for (const roll of ROLLS) {
    const look = (pages: Pages) => inTransaction(pool, (db) => pack(db, roll, pages));
    const mayGoOn = (packed: number) => packed === 0 || performance.now() < until;
    if (!(await throughPages(pool, roll.from, PACKING, look, mayGoOn))) return false;
  }
  return true;
}

/** Removes what is older than any question, and ways that nothing is left of. */
export async function forgetFigures(pool: Pool): Promise<void> {
  for (const { to, kept } of ROLLS) {
    const old = Object.entries(kept).map(
      ([step, ms]) => `step = ${step} and bucket < now() - make_interval(secs => ${ms / 1000})`,
    );
    await sweep(pool, to, old.map((one) => `(${one})`).join(' or '), []);
  }
  await sweep(pool, 'figure_ways', `used_on < current_date - ${KEPT_MS / HOUR_MS / 24 + 1}`, []);
}

/** Packs rows of some pages. @returns how many */
async function pack(db: Queryable, roll: Roll, { from, to }: Pages): Promise<number> {
  // One process packs at a time: it reads a row, adds to it, and writes it.
  await db.query('select pg_advisory_xact_lock($1)', [LOCKS.packing]);
  const { rows } = await db.query<Row>(takeUnlocked(roll.from, `bucket < now() - ${AFTER}`), [from, to]);
  if (rows.length === 0) return 0;
  const nowMs = await databaseTime(db);
  const entries = await roll.entries(db, rows, new Date(nowMs));
  const sums = new Map<string, { owner: string; step: number; bucket: Date; sums: PackedSums }>();
  rows.forEach((row, index) => {
    for (const [step, keptMs] of Object.entries(roll.kept).map(([key, ms]): [number, number] => [Number(key), ms])) {
      const bucket = new Date(Math.floor(row.bucket.getTime() / (step * 1000)) * step * 1000);
      if (bucket.getTime() < nowMs - keptMs) continue;
      const owner = row[roll.owner];
      const key = keyOf(owner, step, bucket);
      const one = sums.get(key) ?? { owner, step, bucket, sums: new PackedSums(...roll.shape) };
      one.sums.add(entries[index] ?? []);
      sums.set(key, one);
    }
  });
  const all = [...sums.values()];
  const keys = [all.map(({ owner }) => owner), all.map(({ step }) => step), all.map(({ bucket }) => bucket)];
  const known = await db.query<{ owner: string; step: number; bucket: Date; counts: number[] }>(
    `select h.${roll.owner} as owner, h.step, h.bucket, h.counts
     from unnest($1::text[], $2::int[], $3::timestamptz[]) as k(owner, step, bucket)
     join ${roll.to} h on h.${roll.owner} = k.owner and h.step = k.step and h.bucket = k.bucket`,
    keys,
  );
  for (const { owner, step, bucket, counts } of known.rows) sums.get(keyOf(owner, step, bucket))?.sums.add(counts);
  const packed = all.map((one) => one.sums.packed());
  await db.query(writing(roll), [
    ...keys,
    packed.map((counts) => JSON.stringify(counts)),
    ...(roll.total ? [packed.map((counts) => roll.total?.of(counts))] : []),
  ]);
  return rows.length;
}

const writing = ({ to, owner, total }: Roll): string => `
insert into ${to} (${owner}, step, bucket, counts${total ? `, ${total.column}` : ''})
select owner, step, bucket, counts::json${total ? ', total' : ''}
from unnest($1::text[], $2::int[], $3::timestamptz[], $4::text[]${total ? ', $5::bigint[]' : ''})
  as k(owner, step, bucket, counts${total ? ', total' : ''})
order by 1, 2, 3
on conflict (${owner}, step, bucket) do update
  set counts = excluded.counts${total ? `, ${total.column} = excluded.${total.column}` : ''}`;

const keyOf = (owner: string, step: number, bucket: Date): string => `${owner} ${step} ${bucket.getTime()}`;

const WAYS = `
with way as (
  select distinct * from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as w(organization_id, destination_id, route_id, source_id)
), used as (
  insert into figure_ways as s (organization_id, destination_id, route_id, source_id, used_on)
  select *, $5::date from way order by 1, 2, 3, 4
  on conflict (organization_id, destination_id, route_id, source_id) do update set used_on = greatest(s.used_on, excluded.used_on)
  returning *
)
select id::float8 as id, organization_id, destination_id, route_id, source_id from used`;

/** The way and the code of each row, and its sums. */
async function figureEntries(db: Queryable, rows: Row[], packedOn: Date): Promise<number[][]> {
  const column = (name: string) => rows.map((row) => row[name]);
  const { rows: ways } = await db.query<{ id: number } & Omit<Row, 'bucket'>>(WAYS, [
    ...['organization_id', 'destination_id', 'route_id', 'source_id'].map(column),
    packedOn,
  ]);
  const ids = new Map(ways.map((way) => [wayOf(way), way.id]));
  return rows.map((row) => [
    ids.get(wayOf(row)) ?? 0,
    Number(row.status_code),
    ...FIGURES.map((name) => Number(row[name])),
  ]);
}

const wayOf = (row: Omit<Row, 'bucket'>): string =>
  [row.organization_id, row.destination_id, row.route_id, row.source_id].join(' ');
