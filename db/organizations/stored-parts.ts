// Whose the database is: for the limit of its size (core/database-room.ts). Read while the database is nearly full only.
import type { Queryable } from '../connections/pool.ts';
import { keptPayloads } from './usage.ts';

// Rows have no size that is counted anywhere, and may hold much that tenants and their destinations choose: headers, answers. So a
// sample of the pages of each table is weighed, and no row costs anything when it is written. Payloads are counted exactly as they
// are stored: few of them can be most of a database, and a sample would miss them.
const SAMPLED = ['events', 'deliveries', 'attempts', 'audit_records'] as const;
// The part of an organization is then right to some hundredths, and a look costs some milliseconds, whatever the size of a table.
const SAMPLED_BYTES = 512 * 8192;

const SIZES = `
select name, coalesce(sum(pg_relation_size(p.relid)), 0)::bigint as bytes
from unnest($1::text[]) name cross join lateral pg_partition_tree(name::regclass) p
where p.isleaf group by name`;

// What a row takes besides the columns that are weighed, with its indexes (docs/disk.md). `pg_column_size` of a value outside of its
// row does not read it. An attempt's organization is found one by one: joined, PostgreSQL may read all deliveries.
const WEIGHED = `
select organization_id as id, sum(700 + pg_column_size(headers)) * 100 / $1::float8 as bytes
from events tablesample system (($1::float8)::float4) group by 1
union all
select organization_id, count(*) * 750 * 100 / $2::float8 from deliveries tablesample system (($2::float8)::float4) group by 1
union all
select d.organization_id, sum(200 + coalesce(pg_column_size(a.request_headers), 0) + coalesce(pg_column_size(a.response_headers), 0)
                              + coalesce(pg_column_size(a.response_body), 0)) * 100 / $3::float8
from attempts a tablesample system (($3::float8)::float4)
cross join lateral (select organization_id from deliveries d where d.id = a.delivery_id offset 0) d group by 1
union all
select organization_id, sum(500 + pg_column_size(record_ids)) * 100 / $4::float8
from audit_records tablesample system (($4::float8)::float4) group by 1`;

// Organizations beyond these hold less than a thousandth each.
const PARTS = `
select id, sum(bytes) / nullif(sum(sum(bytes)) over (), 0) as part
from (${WEIGHED} union all ${keptPayloads('$5')}) stored
group by id order by part desc nulls last limit 1000`;

/**
 * The part of what is stored that each organization holds, from 0 to 1; one that holds nothing is missing.
 * @param payloadDays how many days payloads are kept; null: for ever
 * @throws a database error
 */
export async function storedParts(db: Queryable, payloadDays: number | null): Promise<Map<string, number>> {
  const { rows: sizes } = await db.query<{ name: string; bytes: number }>(SIZES, [[...SAMPLED]]);
  const bytesOf = new Map(sizes.map(({ name, bytes }) => [name, bytes]));
  const percents = SAMPLED.map((name) => Math.min(100, (100 * SAMPLED_BYTES) / Math.max(1, bytesOf.get(name) ?? 0)));
  const { rows } = await db.query<{ id: string; part: number | null }>(PARTS, [...percents, payloadDays]);
  return new Map(rows.map(({ id, part }) => [id, part ?? 0]));
}
