// A migrated database for one test file, beside the one that all share: no worker does what its tests do.
import { randomBytes } from 'node:crypto';
import { newId } from '../../core/ids.ts';
import { migrate } from '../../db/migrate.ts';
import { createPool, type Pool } from '../../db/pool.ts';
import { createDatabase } from './hookyard.ts';

export interface OwnDatabase {
  pool: Pool;
  databaseUrl: string;
  /** Ends the pool and drops the database. */
  close(): Promise<void>;
}

/** @param name what its name begins with; `options.connections`: of the pool */
export async function ownDatabase(name: string, options: { connections?: number } = {}): Promise<OwnDatabase> {
  const { databaseUrl, drop } = await createDatabase(`${name}_${randomBytes(4).toString('hex')}`);
  await migrate(databaseUrl);
  const { connections = 4 } = options;
  const pool = createPool(databaseUrl, { max: connections, statementTimeoutMs: 20_000, onError: () => {} });
  return {
    pool,
    databaseUrl,
    async close() {
      await pool.end();
      await drop();
    },
  };
}

/** An organization with one source, which an own database has none of. */
export async function insertSource(pool: Pool): Promise<{ organizationId: string; sourceId: string }> {
  const [organizationId, sourceId] = [newId('org'), newId('src')];
  await pool.query(`insert into organizations (id, slug, name, plan) values ($1, 'acme', 'Acme', 'business')`, [
    organizationId,
  ]);
  await pool.query(`insert into sources (id, organization_id, name, slug) values ($1, $2, 'Orders', 'orders')`, [
    sourceId,
    organizationId,
  ]);
  return { organizationId, sourceId };
}
