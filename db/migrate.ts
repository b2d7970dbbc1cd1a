// Brings the schema up to date. Runs at every start; concurrent starts wait for each other.
import { readdirSync, readFileSync } from 'node:fs';
import { Migration, Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { entities } from './entities.ts';
import { LOCK_TIMEOUT_MS, untilLocked } from './lock-tries.ts';
import type { Queryable } from './pool.ts';
import { ensurePartitions } from './retention/partitions.ts';
import { LOCKS } from './sql-rules.ts';
import { renewTenants } from './tenants/rights.ts';

const APPLICATION_NAME = 'hookyard-migrate';
const folder = new URL('./migrations/', import.meta.url);
// Numbered SQL files, applied in this order, each in a transaction of its own and never edited after a release.
const files = readdirSync(folder)
  .map((name) => /^(\d{4}-[a-z0-9-]+)\.sql$/.exec(name)?.[1])
  .filter((name) => name !== undefined)
  .toSorted();

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
 * Applies missing migrations, creates the partitions of the next days, and binds roles of tenants to new tables (tenants/rights.ts),
 * under an advisory lock.
 * @returns the names of the migrations that were applied now
 * @throws when the database cannot be reached, or a migration fails (nothing of that one stays) or gets no lock for three minutes
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const lock = new pg.Client({
    connectionString: databaseUrl,
    application_name: APPLICATION_NAME,
    connectionTimeoutMillis: 5000,
  });
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [LOCKS.migration]);
    const applied = await applyMigrations(databaseUrl);
    await ensurePartitions(lock);
    await renewTenants(lock);
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
    driverOptions: { application_name: APPLICATION_NAME },
    entities,
    extensions: [Migrator],
    migrations: { migrationsList, snapshot: false, tableName: 'schema_migrations', silent: true, allOrNothing: false },
  });
  try {
    const { migrator } = orm;
    const missing = (await migrator.getPending())
      .map(({ name }) => name)
      .filter((name) => only?.includes(name) ?? true);
    await untilLocked(() => migrator.up(only && { migrations: only }));
    return missing;
  } finally {
    await orm.close();
  }
}
