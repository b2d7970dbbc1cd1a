// How large tables and indexes are, read from PostgreSQL.
import type { Queryable } from '../../db/connections/pool.ts';

/** Bytes of what a table has: its rows, what it keeps outside of them (TOAST), and each index by its name. */
export type Sizes = Map<string, Map<string, number>>;

// Partitions count as their table, their indexes as those of the table.
const SIZES = `
with member as (
  select c.oid, coalesce(p.relname, c.relname) as name, c.reltoastrelid as toast
  from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
  where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
)
select name, 'rows' as part, sum(pg_table_size(oid) - case when toast = 0 then 0 else pg_total_relation_size(toast) end)::float8 as bytes from member group by 1
union all
select name, 'outside of rows', sum(pg_total_relation_size(toast))::float8 from member where toast <> 0 group by 1
union all
select m.name, coalesce(p.relname, c.relname), sum(pg_relation_size(x.indexrelid))::float8
from member m join pg_index x on x.indrelid = m.oid join pg_class c on c.oid = x.indexrelid
left join pg_inherits i on i.inhrelid = x.indexrelid left join pg_class p on p.oid = i.inhparent
group by 1, 2`;

/** Reads all tables, after dead rows were made room for, as autovacuum does sooner or later. */
export async function readSizes(db: Queryable): Promise<Sizes> {
  await db.query('vacuum (analyze)');
  const { rows } = await db.query<{ name: string; part: string; bytes: number }>(SIZES);
  const sizes: Sizes = new Map();
  for (const { name, part, bytes } of rows) sizes.set(name, (sizes.get(name) ?? new Map()).set(part, bytes));
  return sizes;
}

/** What has been added, per row. @param count of rows that were added to each table */
export function perRow(before: Sizes, after: Sizes, count: number): Sizes {
  return new Map(
    [...after].map(([table, parts]) => [
      table,
      new Map([...parts].map(([part, bytes]) => [part, (bytes - (before.get(table)?.get(part) ?? 0)) / count])),
    ]),
  );
}

export const sumOf = (parts: Map<string, number> | undefined): number =>
  [...(parts ?? [])].reduce((sum, [, bytes]) => sum + bytes, 0);

/** Bytes of all databases but this one: those of Temporal. */
export async function otherDatabases(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ bytes: number }>(
    `select sum(pg_database_size(oid))::float8 as bytes from pg_database where datname like 'temporal%'`,
  );
  return rows[0]?.bytes ?? 0;
}
