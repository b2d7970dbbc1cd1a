// The whole database as text: every row of every table, whatever its columns are called.
import type { Queryable } from '../../../db/connections/pool.ts';

export interface TableRow {
  table: string;
  /** By column; bytes are read as text where they are text, else as hexadecimal digits. */
  columns: Record<string, string | null>;
}

/** Reads everything but the partitions of a table, which are read with it. */
export async function wholeDatabase(db: Queryable): Promise<TableRow[]> {
  const { rows: tables } = await db.query<{ name: string; columns: { name: string; type: string }[] }>(`
    select c.relname as name,
           json_agg(json_build_object('name', a.attname, 'type', a.atttypid::regtype::text) order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped
    group by c.relname order by c.relname`);
  const read: TableRow[] = [];
  for (const { name, columns } of tables) {
    const texts = columns.map((column) => {
      const quoted = `"${column.name}"`;
      return column.type === 'bytea' ? `encode(${quoted}, 'escape') as ${quoted}` : `${quoted}::text as ${quoted}`;
    });
    const { rows } = await db.query<Record<string, string | null>>(`select ${texts.join(', ')} from "${name}"`);
    read.push(...rows.map((row) => ({ table: name, columns: row })));
  }
  return read;
}
