// Brings the schema up to date. Runs at every start; concurrent starts wait for each other.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Migration, Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { isLockTimeout } from './database-errors.ts';
import { entities } from './entities.ts';
import type { Queryable } from './pool.ts';
import { ensurePartitions } from './retention/partitions.ts';
import { LOCKS } from './sql-rules.ts';

const folder = new URL('./migrations/', import.meta.url);
// Numbered SQL files, applied in this order, each in a transaction of its own and never edited after a release.
const files = readdirSync(folder)
  .map((name) => /^(\d{4}-[a-z0-9-]+)\.sql$/.exec(name)?.[1])
  .filter((name) => name !== undefined)
  .toSorted();

// A lock that is waited for keeps every later statement on that table waiting. So a migration gives up after a short while, and is
// tried again after a pause.
const LOCK_TIMEOUT_MS = 2000;
const LOCK_TRIES = 60;
const LOCK_PAUSE_MS = 1000;

const migrationsList = files.map((name) => ({
  name,
  class: class extends Migration {
    override async up(): Promise<void> {
      await this.execute(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await this.execute(readFileSync(new URL(`${name}.sql`, folder), 'utf8'));
    }
  },
}));

/**
 * Applies missing migrations and creates the partitions of the next days, under an advisory lock.
 * @returns the names of the migrations that were applied now
 * @throws when the database cannot be reached, or a migration fails (nothing of that one stays) or gets no lock for three minutes
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const lock = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5000 });
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [LOCKS.migration]);
    const applied = await applyMigrations(databaseUrl);
    await ensurePartitions(lock);
    return applied;
  } finally {
    await lock.end();
  }
}

/** The names of the migrations that the database lacks, in their order. */
export async function missingMigrations(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ made: boolean }>(`select to_regclass('schema_migrations') is not null as made`);
  if (rows[0]?.made !== true) return files;
  const applied = await db.query<{ name: string }>('select name from schema_migrations');
  const known = new Set(applied.rows.map(({ name }) => name));
  return files.filter((name) => !known.has(name));
}

/**
 * Applies missing migrations, without the lock that concurrent starts need.
 * @param only names of the migrations to apply; by default all. Tests make the schema of an earlier release with it
 * @returns the names of the migrations that were applied now
 */
export async function applyMigrations(databaseUrl: string, only?: string[]): Promise<string[]> {
  const orm = await MikroORM.init({
    clientUrl: databaseUrl,
    entities,
    extensions: [Migrator],
    migrations: { migrationsList, snapshot: false, tableName: 'schema_migrations', silent: true, allOrNothing: false },
  });
  try {
    const { migrator } = orm;
    const missing = (await migrator.getPending())
      .map(({ name }) => name)
      .filter((name) => only?.includes(name) ?? true);
    for (let tries = 1; ; tries += 1) {
      try {
        await migrator.up(only && { migrations: only });
        return missing;
      } catch (error) {
        if (!isLockTimeout(error) || tries === LOCK_TRIES) throw error;
      }
      await delay(LOCK_PAUSE_MS);
    }
  } finally {
    await orm.close();
  }
}
