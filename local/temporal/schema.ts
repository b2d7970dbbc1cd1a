// The schemas of Temporal's two databases, through Temporal's own SQL tool (the schema files are inside the tool), and
// the indexes of its visibility table. It has 74, and every start and end of a workflow writes all of them; Hookyard's
// queries and the Temporal UI use a dozen. Without the others a delivery costs half as much there.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import type pg from 'pg';
import { clientOptions, temporalConnectionOptions } from '../../temporal-config/client.ts';
import { columnsOfAllNamespaces } from '../../temporal-config/namespace.ts';
import { oneLine, StartupError } from '../errors.ts';
import { withClient } from '../postgres/roles.ts';

const run = promisify(execFile);

/** Creates or updates both schemas. @throws StartupError with what the SQL tool says */
export async function updateTemporalSchemas(options: {
  sqlTool: string;
  databaseUrl: string;
  visibilityUrl: string;
}): Promise<void> {
  const update = async (url: string, schema: string) => {
    await runTool(options.sqlTool, url, ['setup-schema', '--version', '0.0']); // does nothing to a schema that has a version
    await runTool(options.sqlTool, url, ['update-schema', '--schema-name', schema]);
  };
  await Promise.all([
    update(options.databaseUrl, 'postgresql/v12/temporal'),
    update(options.visibilityUrl, 'postgresql/v12/visibility'),
  ]);
}

async function runTool(sqlTool: string, url: string, args: string[]): Promise<void> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const env = {
    ...process.env,
    SQL_PLUGIN: 'postgres12_pgx',
    SQL_HOST: hostname,
    SQL_PORT: port,
    SQL_USER: decodeURIComponent(username),
    SQL_PASSWORD: decodeURIComponent(password),
    SQL_DATABASE: pathname.slice(1),
  };
  try {
    await run(sqlTool, args, { env });
  } catch (error) {
    throw new StartupError(`Temporal's database schema could not be set up: ${oneLine(error)}`);
  }
}

/**
 * Besides those of columns in use: the primary key; lists by time; the UI's filters by id, type and status; and the
 * division of the namespace, by which schedules and other internal executions are told apart.
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
 * @param url of the visibility database, as the owner of its table
 * @param options.used columns with search attributes, as the server names them: `Keyword01`, `Int01`
 * @param options.inUse one after the other, so that no reader or writer of the table has to wait
 * @returns the names of those that are dropped, or would be
 */
export async function dropUnusedIndexes(
  url: string,
  { used, inUse = false, dryRun = false }: { used: string[]; inUse?: boolean; dryRun?: boolean },
): Promise<string[]> {
  return withClient(url, async (client) => {
    const unused = await unusedIndexes(client, used);
    if (dryRun || unused.length === 0) return unused;
    const names = unused.map((name) => client.escapeIdentifier(name));
    if (!inUse) await client.query(`drop index if exists ${names.join(', ')}`);
    else for (const name of names) await client.query(`drop index concurrently if exists ${name}`);
    return unused;
  });
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
    throw new StartupError("This database has no executions_visibility table; specify Temporal's visibility database");
  // PostgreSQL knows the columns in lower case.
  const inUse = used.map((column) => column.toLowerCase());
  return rows
    .filter(({ name, columns }) => !KEPT.includes(name) && !columns.some((column) => inUse.includes(column)))
    .map(({ name }) => name);
}

/**
 * Keeps those of the columns with search attributes, of every namespace.
 * @param url of the visibility database, as the owner of its table
 * @param env where Temporal is: TEMPORAL_ADDRESS and its kin
 */
export async function pruneVisibility(
  url: string,
  env: Record<string, string | undefined>,
  dryRun: boolean,
): Promise<string[]> {
  const used = await usedColumns(env);
  try {
    return await dropUnusedIndexes(url, { used, inUse: true, dryRun });
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`The visibility database cannot be used: ${oneLine(error)}`);
  }
}

async function usedColumns(env: Record<string, string | undefined>): Promise<string[]> {
  const options = clientOptions(temporalConnectionOptions(env));
  try {
    const connection = await Connection.connect(options);
    return await columnsOfAllNamespaces(connection).finally(() => connection.close());
  } catch (error) {
    throw new StartupError(
      `Temporal at ${options.address} cannot list its namespaces (${oneLine(error)}); they are needed to determine which indexes to keep`,
    );
  }
}
