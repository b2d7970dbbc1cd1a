// The indexes of Temporal's visibility table. It has 74, and every start and end of a workflow writes all of them; Hookyard's queries
// and the Temporal UI use a dozen. Without the others a delivery costs half as much there.
import pg from 'pg';
import { StartupError } from '../errors.ts';

/**
 * Besides those of columns in use: the primary key; lists by time; the UI's filters by id, type and status; and the division
 * of the namespace, by which schedules and other internal executions are told apart.
 */
const KEPT = [
  'executions_visibility_pkey',
  'default_idx',
  'by_workflow_id',
  'by_workflow_type',
  'by_status',
  'by_temporal_namespace_division',
];

/**
 * Drops those that are not used.
 * @param url of the visibility database, as the owner of its table
 * @param options.used columns with search attributes, as the server names them: `Keyword01`, `Int01`
 * @param options.inUse one after the other, so that no reader or writer of the table has to wait
 * @param options.dryRun drops nothing
 * @returns their names
 * @throws StartupError when it is no such database
 */
export async function dropUnusedIndexes(
  url: string,
  { used, inUse = false, dryRun = false }: { used: string[]; inUse?: boolean; dryRun?: boolean },
): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, application_name: 'hookyard-setup' });
  await client.connect();
  try {
    const unused = await unusedIndexes(client, used);
    if (dryRun || unused.length === 0) return unused;
    const names = unused.map((name) => client.escapeIdentifier(name));
    if (!inUse) await client.query(`drop index if exists ${names.join(', ')}`);
    else for (const name of names) await client.query(`drop index concurrently if exists ${name}`);
    return unused;
  } finally {
    await client.end();
  }
}

async function unusedIndexes(client: pg.Client, used: string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `select c.relname::text as name, array_agg(a.attname::text) as columns
     from pg_index i join pg_class c on c.oid = i.indexrelid
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
     where i.indrelid = to_regclass('executions_visibility')
     group by c.relname order by c.relname`,
  );
  if (rows.length === 0)
    throw new StartupError(
      'This database has no table executions_visibility; name the visibility database of Temporal.',
    );
  // PostgreSQL knows the columns in lower case.
  const inUse = used.map((column) => column.toLowerCase());
  return rows
    .filter(({ name, columns }) => !KEPT.includes(name) && !columns.some((column) => inUse.includes(column)))
    .map(({ name }) => name);
}
