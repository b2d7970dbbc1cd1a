// Whose the database is: for the limit of its size (core/fairness/backlog-room.ts). Read while the database is nearly full only.
import type { Queryable } from '../connections/pool.ts';
import { keptPayloads } from './usage.ts';

// What a row `t` takes, bytes: the columns that tenants and their destinations can make large, and the rest with its indexes
// (docs/disk.md). The size of a value that is stored outside of its row is told without reading it; the rows of records are read.
const RECORD = '300 + pg_column_size(t.*)';
const WEIGHTS = {
  events: '700 + pg_column_size(t.headers)',
  deliveries: '750',
  audit_records: '500 + pg_column_size(t.record_ids)',
  idempotent_requests: '300 + coalesce(pg_column_size(t.answer), 0)',
  warehouse_batches: '500',
  destinations: RECORD,
  routes: RECORD,
  filters: RECORD,
  transforms: RECORD,
  earlier_versions: RECORD,
  schemas: RECORD,
};
const ATTEMPT = `200 + coalesce(pg_column_size(a.request_headers), 0) + coalesce(pg_column_size(a.response_headers), 0)
  + coalesce(pg_column_size(a.response_body), 0)`;

// Rows have no size that is counted anywhere, and they may be many. So a sample of the pages of each table is weighed, and no row costs
// anything when it is written. Payloads are counted as they are stored: few of them can be most of a database, and a sample would miss
// them.
const SAMPLED = [...Object.keys(WEIGHTS), 'attempts'];
// The part of an organization is then right to some hundredths, and a look costs some milliseconds, whatever the size of a table.
const SAMPLED_BYTES = 512 * 8192;

const SIZES = `
select name, coalesce(sum(pg_relation_size(p.relid)), 0)::bigint as bytes
from unnest($1::text[]) name cross join lateral pg_partition_tree(name::regclass) p
where p.isleaf group by name`;

/** Of a table so many percent. @param percent a parameter */
const sample = (percent: string): string => `tablesample system ((${percent}::float8)::float4)`;
const scaled = (weight: string, percent: string): string => `sum(${weight}) * 100 / ${percent}::float8`;

const weighed = (table: keyof typeof WEIGHTS, percent: string): string =>
  `select organization_id as id, ${scaled(WEIGHTS[table], percent)} as bytes from ${table} t ${sample(percent)} group by 1`;

// An attempt's organization is found one by one: joined, PostgreSQL may read all deliveries.
const weighedAttempts = (percent: string): string => `
select d.organization_id, ${scaled(ATTEMPT, percent)} from attempts a ${sample(percent)}
cross join lateral (select organization_id from deliveries d where d.id = a.delivery_id offset 0) d group by 1`;

const TABLES = Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[];
// Organizations beyond these hold less than a thousandth each.
const PARTS = `
select id, sum(bytes) / nullif(sum(sum(bytes)) over (), 0) as part
from (
  ${TABLES.map((table, index) => weighed(table, `$${index + 1}`)).join('\n  union all\n  ')}
  union all ${weighedAttempts(`$${SAMPLED.length}`)}
  union all ${keptPayloads(`$${SAMPLED.length + 1}`)}
) stored
group by id order by part desc nulls last limit 1000`;

/**
 * The part of what is stored that each organization holds, from 0 to 1; one that holds nothing is missing.
 * @param payloadDays how many days payloads are kept; null: for ever
 * @throws a database error
 */
export async function storedParts(db: Queryable, payloadDays: number | null): Promise<Map<string, number>> {
  const { rows: sizes } = await db.query<{ name: string; bytes: number }>(SIZES, [SAMPLED]);
  const bytesOf = new Map(sizes.map(({ name, bytes }) => [name, bytes]));
  const percents = SAMPLED.map((name) => Math.min(100, (100 * SAMPLED_BYTES) / Math.max(1, bytesOf.get(name) ?? 0)));
  const { rows } = await db.query<{ id: string; part: number | null }>(PARTS, [...percents, payloadDays]);
  return new Map(rows.map(({ id, part }) => [id, part ?? 0]));
}
