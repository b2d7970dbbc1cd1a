// Brings the schema up to date. Runs at every start; concurrent starts wait for each other.
import { readdirSync, readFileSync } from 'node:fs';
import { Migration, Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { entities } from './entities.ts';
import { ensurePartitions } from './retention/partitions.ts';
import { LOCKS } from './sql-rules.ts';

const folder = new URL('./migrations/', import.meta.url);
// Numbered SQL files, applied in this order, each in a transaction of its own and never edited after a release.
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.sql'))
  .map((name) => name.replace(/\.sql$/, ''))
  .toSorted();

const migrationsList = files.map((name) => ({
  name,
  class: class extends Migration {
    override async up(): Promise<void> {
      await this.execute(readFileSync(new URL(`${name}.sql`, folder), 'utf8'));
    }
  },
}));

/**
 * Applies missing migrations and creates the partitions of the next days, under an advisory lock.
 * @returns the names of the migrations that were applied now
 * @throws when the database cannot be reached or a migration fails (nothing of that migration stays)
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
    migrations: { migrationsList, snapshot: false, tableName: 'schema_migrations', silent: true },
  });
  try {
    const applied = await orm.migrator.up(only && { migrations: only });
    return applied.map((migration) => migration.name);
  } finally {
    await orm.close();
  }
}
