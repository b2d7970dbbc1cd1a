// The schemas of Temporal's two databases, through Temporal's own SQL tool (the schema files are inside the tool).
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { oneLine, StartupError } from './errors.ts';

const run = promisify(execFile);
const visibilityIndexes = join(import.meta.dirname, '..', 'temporal-config', 'visibility-indexes.sql');

/**
 * Creates or updates both schemas and drops the visibility indexes that are not used.
 * @throws StartupError with what the SQL tool says
 */
export async function updateTemporalSchemas(options: {
  sqlTool: string;
  databaseUrl: string;
  visibilityUrl: string;
}): Promise<void> {
  const { sqlTool, databaseUrl, visibilityUrl } = options;
  await Promise.all([
    updateSchema(sqlTool, databaseUrl, 'postgresql/v12/temporal'),
    updateSchema(sqlTool, visibilityUrl, 'postgresql/v12/visibility').then(() => dropUnusedIndexes(visibilityUrl)),
  ]);
}

async function updateSchema(sqlTool: string, url: string, schema: string): Promise<void> {
  await runTool(sqlTool, url, ['setup-schema', '--version', '0.0']); // does nothing to a schema that has a version
  await runTool(sqlTool, url, ['update-schema', '--schema-name', schema]);
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

async function dropUnusedIndexes(url: string): Promise<void> {
  await withClient(url, (client) => client.query(readFileSync(visibilityIndexes, 'utf8')));
}

/**
 * Drops the indexes of the Keyword columns that no search attribute uses.
 * @param used column names as the server gives them: `Keyword01`
 */
export async function dropUnusedKeywordIndexes(visibilityUrl: string, used: string[]): Promise<void> {
  const kept = used.map((column) => column.replace(/^Keyword/, 'by_keyword_'));
  const all = Array.from({ length: 10 }, (_, i) => `by_keyword_${String(i + 1).padStart(2, '0')}`);
  const unused = all.filter((index) => !kept.includes(index));
  await withClient(visibilityUrl, (client) => client.query(`DROP INDEX IF EXISTS ${unused.join(', ')}`));
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'hookyard-setup' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
