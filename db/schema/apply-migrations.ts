// Applies migrations. A file of its own, because the object mapper, which runs them, is a quarter of what a worker would load: a
// process that has none to apply does without.
import { Migration, Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import { entities } from '../entities.ts';
import { LOCK_TIMEOUT_MS, untilLocked } from './lock-tries.ts';
import { migrationNames, migrationText } from './migration-files.ts';

const APPLICATION_NAME = 'hookyard-migrate';

const migrationsList = migrationNames.map((name) => ({
  name,
  class: class extends Migration {
    override async up(): Promise<void> {
      await this.execute(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await this.execute(migrationText(name));
    }
  },
}));

/**
 * Applies missing migrations, without the lock that concurrent starts need.
 * @param only names of the migrations to apply; by default all. Tests make the schema of an earlier release with it
 * @returns the names of the migrations that were applied now
 */
export async function applyMigrations(databaseUrl: string, only?: string[]): Promise<string[]> {
  const orm = await MikroORM.init({
    clientUrl: databaseUrl,
    // The object mapper does not read settings of TLS from the URL.
    driverOptions: { application_name: APPLICATION_NAME, connectionString: databaseUrl },
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
