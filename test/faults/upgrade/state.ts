// The data of an installation as text: the rows of its three databases, from which an installation of the same release is made
// again. The schemas are not in it: Hookyard's is made by the release's own migrations, which are never edited afterwards, and
// Temporal's by its own tool.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { applyMigrations } from '../../../db/schema/apply-migrations.ts';
import { ensureBinaries } from '../../../local/binaries.ts';
import { claimPort } from '../../../local/ports.ts';
import { startPostgres } from '../../../local/postgres.ts';
import { updateTemporalSchemas } from '../../../local/temporal-schema.ts';
import type { Story } from './story.ts';

const DATABASES = ['hookyard', 'temporal', 'temporal_visibility'] as const;
type Database = (typeof DATABASES)[number];

// Written by the tools that make the schemas, or about processes that are gone.
const LEFT_OUT = ['schema_migrations', 'schema_version', 'schema_update_history', 'cluster_membership'];

const folderOf = (checkout: string) => join(checkout, 'db', 'migrations');

/** What the rows alone do not tell. */
export interface Head {
  /** The release that wrote it, or the commit where there was none. */
  release: string;
  /** ISO 8601. */
  savedAt: string;
  /** The settings whose secrets belong to the rows: generated for this state and used nowhere else. */
  settings: { HOOKYARD_API_KEY: string; HOOKYARD_ENCRYPTION_KEYS: string };
  story: Story;
  /** SHA-256 of each migration of the release, by name. */
  migrations: Record<string, string>;
  /** Statements that make the partitions its rows are in. */
  partitions: string[];
}

export interface State {
  head: Head;
  rows: { database: Database; table: string; row: string }[];
}

/** SHA-256 of the migrations in a checkout, by name. */
export function migrationsOf(checkout: string): Record<string, string> {
  const files = readdirSync(folderOf(checkout)).filter((file) => file.endsWith('.sql'));
  const digest = (file: string) => createHash('sha256').update(readFileSync(join(folderOf(checkout), file)));
  return Object.fromEntries(files.toSorted().map((file) => [file.slice(0, -4), digest(file).digest('hex')]));
}

/**
 * Reads all rows. Nothing may be writing: stop the processes and Temporal first.
 * @param urlOf the address of a database
 * @param placeholders what stands in the file for addresses of this machine, by the address
 */
export async function readState(
  urlOf: (database: Database) => string,
  head: Omit<Head, 'partitions'>,
  placeholders: Record<string, string>,
): Promise<State> {
  const state: State = { head: { ...head, partitions: [] }, rows: [] };
  for (const database of DATABASES) {
    await withClient(urlOf(database), async (client) => {
      if (database === 'hookyard') state.head.partitions = await partitions(client);
      for (const table of await tables(client)) {
        // json and not jsonb, which would not keep a json column as it is. Read as text: JSON.parse would round large integers.
        const { rows } = await client.query<{ row: string }>(`select to_json(t)::text as row from "${table}" t`);
        for (const { row } of rows) {
          state.rows.push({ database, table, row: database === 'hookyard' ? replaced(row, placeholders) : row });
        }
      }
    });
  }
  return state;
}

/** Longer texts first: one address may begin with another. */
function replaced(text: string, replacements: Record<string, string>): string {
  return Object.entries(replacements)
    .toSorted(([a], [b]) => b.length - a.length)
    .reduce((sofar, [from, to]) => sofar.replaceAll(from, to), text);
}

async function tables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> all ($1)
     order by relname`,
    [LEFT_OUT],
  );
  return rows.map(({ name }) => name);
}

async function partitions(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('create table %I partition of %I %s %s', c.relname, p.relname, pg_get_expr(c.relpartbound, c.oid),
                   'with (' || array_to_string(c.reloptions, ', ') || ')') as statement
     from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
     where c.relkind = 'r' order by c.relname`,
  );
  return rows.map(({ statement }) => statement.trim());
}

/** One line of JSON that is the head, then one line a row: database, table and row with tabs between. Gzipped. */
export function writeStateFile(file: string, { head, rows }: State): void {
  const lines = [JSON.stringify(head), ...rows.map(({ database, table, row }) => `${database}\t${table}\t${row}`)];
  writeFileSync(file, gzipSync(`${lines.join('\n')}\n`, { level: 9 }));
}

export function readStateFile(file: string): State {
  const [head = '', ...lines] = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n');
  const rows = lines.map((line) => {
    const [database, table = '', row = ''] = line.split('\t');
    return { database: database as Database, table, row };
  });
  return { head: JSON.parse(head), rows };
}

/**
 * Puts a state into an empty data folder of the embedded stack, as the release that wrote it left its own.
 * @param replacements what is put for the placeholders of the file
 */
export async function installState(
  dataDir: string,
  { head, rows }: State,
  replacements: Record<string, string>,
): Promise<void> {
  const log = () => {};
  const { sqlTool } = await ensureBinaries({ log, ui: false });
  const postgres = await startPostgres({ dataDir, port: await claimPort(0, '', 'PostgreSQL'), log });
  try {
    await postgres.createDatabases([...DATABASES]);
    await applyMigrations(postgres.url('hookyard'), Object.keys(head.migrations));
    const [databaseUrl, visibilityUrl] = [postgres.url('temporal'), postgres.url('temporal_visibility')];
    await updateTemporalSchemas({ sqlTool, databaseUrl, visibilityUrl });
    for (const database of DATABASES) {
      await withClient(postgres.url(database), async (client) => {
        if (database === 'hookyard') for (const statement of head.partitions) await client.query(statement);
        await client.query(`truncate ${(await tables(client)).map((table) => `"${table}"`).join(', ')}`);
        // What triggers would do has been done by the release, and its rows are in the file.
        await client.query('set session_replication_role = replica');
        const own = Map.groupBy(
          rows.filter((row) => row.database === database),
          ({ table }) => table,
        );
        for (const [table, lines] of own) {
          await insert(
            client,
            table,
            lines.map(({ row }) => replaced(row, replacements)),
          );
        }
      });
    }
  } finally {
    await postgres.service.stop();
  }
}

async function insert(client: pg.Client, table: string, rows: string[]): Promise<void> {
  const columns = await client.query<{ names: string }>(
    `select string_agg(quote_ident(attname), ', ') as names from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  );
  const names = columns.rows[0]?.names;
  await client.query(
    `insert into "${table}" (${names}) overriding system value select ${names} from json_populate_recordset(null::"${table}", $1)`,
    [`[${rows.join(',')}]`],
  );
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
