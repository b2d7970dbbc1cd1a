// Brings the schema up to date. Runs by itself at every start; concurrent starts wait for each other.
import { readFileSync } from 'node:fs';
import { Migration, Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { entities } from './entities.ts';
import { ensurePartitions } from './retention/partitions.ts';
import { LOCKS } from './sql-rules.ts';

// Numbered SQL files, applied in this order, each in a transaction of its own and never edited after a release.
const files = [
  '0001-records',
  '0002-events',
  '0003-statistics',
  '0004-filters-schemas-transforms',
  '0005-failover',
  '0006-notifications',
  '0007-rate-limits',
  '0008-circuits',
  '0009-event-replays',
  '0010-history',
  '0011-lanes',
  '0012-warehouse-batches',
  '0013-warehouse-destinations',
  '0014-idempotent-requests',
  '0015-reconciliation',
  '0016-retention',
  '0017-api-key-use',
  '0018-routed-events',
  '0019-outbox-turns',
  '0020-ranges',
  '0021-warehouse-batch-halves',
  '0022-leases',
  '0024-error-summaries',
];

const migrationsList = files.map((name) => ({
  name,
  class: class extends Migration {
    override async up(): Promise<void> {
      await this.execute(readFileSync(new URL(`./migrations/${name}.sql`, import.meta.url), 'utf8'));
    }
  },
}));

/**
 * Applies what is missing and creates the partitions of the next days, under an advisory lock.
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
 * Applies what is missing, without the lock that concurrent starts need.
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
