// Brings the schema up to date: db/schema/, one SQL file per subject, and the migrations that have changed it since
// 0.1.0 (migrations/, numbered SQL files, never edited after a release). Runs at every start; concurrent starts wait
// for each other.
import pg from 'pg';
import { currentUrl, type DatabaseUrl, requireServer } from '../connections/client.ts';
import { ensurePartitions } from '../sql/partitions.ts';
import { LOCKS } from '../sql/rules.ts';
import { renewTenants } from './roles.ts';
import type { Queryable } from '../connections/pool.ts';
import { sql } from '../connections/statements.ts';
import { LOCK_TIMEOUT_MS, untilLocked } from './schema-changes.ts';
import { readdirSync, readFileSync } from 'node:fs';

const APPLICATION_NAME = 'hookyard-migrate';

/**
 * Applies missing migrations, creates the partitions of the next days, and binds roles of tenants to new tables
 * (schema/roles.ts), under an advisory lock.
 * @returns the names of the migrations that were applied now
 * @throws ConfigError when Hookyard does not run on this server; when the database cannot be reached, or a migration
 * fails (nothing of that one stays) or gets no lock for three minutes
 */
export async function migrate(url: DatabaseUrl): Promise<string[]> {
  const databaseUrl = currentUrl(url);
  const lock = new pg.Client({
    connectionString: databaseUrl,
    application_name: APPLICATION_NAME,
    connectionTimeoutMillis: 5000,
  });
  await lock.connect();
  try {
    await requireServer(lock);
    await lock.query('select pg_advisory_lock($1)', [LOCKS.migration]);
    const applied = await applyMigrations(lock);
    await ensurePartitions(lock);
    await renewTenants(lock);
    return applied;
  } finally {
    await lock.end();
  }
}

/**
 * Applies missing migrations, each in a transaction of its own, without the lock that concurrent starts need.
 * @param all by default those of this version; tests name those of another one
 * @returns the names of the migrations that were applied now
 * @throws what a migration throws, of which nothing stays; after three minutes, that it got no lock
 */
export async function applyMigrations(db: pg.Client, all: readonly Migration[] = migrations): Promise<string[]> {
  const missing = await missingMigrations(db, all);
  for (const migration of missing) {
    // The schema shows the result of all migrations.
    const done = migration.name === SCHEMA ? all : [migration];
    await untilLocked(() => apply(db, migration, done));
  }
  return missing.map(({ name }) => name);
}

async function apply(db: pg.Client, migration: Migration, done: readonly Migration[]): Promise<void> {
  try {
    await db.query('begin');
    await db.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await db.query(migration.sql);
    await db.query('insert into schema_migrations (name) select unnest($1::text[])', [done.map(({ name }) => name)]);
    await db.query('commit');
  } catch (error) {
    await db.query('rollback').catch(() => {});
    throw error;
  }
}

/** The migrations that the database lacks, in their order; of an empty one only the schema. */
export async function missingMigrations(db: Queryable, all: readonly Migration[] = migrations): Promise<Migration[]> {
  const isMade = await sql(db).value<boolean>`select to_regclass('schema_migrations') is not null`;
  if (!isMade) return all.filter(({ name }) => name === SCHEMA);
  const known = new Set(await sql(db).column`select name from schema_migrations`);
  return all.filter(({ name }) => !known.has(name));
}

export interface Migration {
  name: string;
  sql: string;
}

/**
 * The first migration: everything in db/schema/. A new database gets no other, because the files show the result of
 * all.
 */
export const SCHEMA = 'schema';

/** All migrations, in their order. */
export const migrations: readonly Migration[] = [
  {
    name: SCHEMA,
    sql: read('./')
      .map((part) => part.sql)
      .join('\n'),
  },
  ...read('./migrations/'),
];

function read(folder: string): Migration[] {
  const url = new URL(folder, import.meta.url);
  return readdirSync(url)
    .filter((file) => file.endsWith('.sql'))
    .toSorted()
    .map((file) => ({ name: file.replace('.sql', ''), sql: readFileSync(new URL(file, url), 'utf8') }));
}
