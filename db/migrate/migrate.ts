// Brings the schema up to date. Runs at every start; concurrent starts wait for each other.
import pg from 'pg';
import { currentUrl, type DatabaseUrl } from '../connections/client.ts';
import { applyMigrations } from './apply-migrations.ts';
import { requireServer } from '../connections/server-version.ts';
import { ensurePartitions } from '../retention/partitions.ts';
import { LOCKS } from '../sql-rules.ts';
import { renewTenants } from '../tenants/tenant-rights.ts';

const APPLICATION_NAME = 'hookyard-migrate';

/**
 * Applies missing migrations, creates the partitions of the next days, and binds roles of tenants to new tables (tenants/tenant-rights.ts),
 * under an advisory lock.
 * @returns the names of the migrations that were applied now
 * @throws ConfigError when Hookyard does not run on this server; when the database cannot be reached, or a migration fails (nothing of that one stays) or gets no lock for three minutes
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
