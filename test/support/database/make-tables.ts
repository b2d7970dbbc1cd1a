// The tables of a database, as `npm start` makes them: the processes run with a role that cannot.
import { createPool } from '../../../db/connections/pool.ts';
import { migrate } from '../../../db/schema/migrate.ts';
import { grantRuntime, grantTenant } from '../../../db/schema/roles.ts';
import { TENANT_ROLE } from '../../../local/postgres/roles.ts';

/** @param ownerUrl of the database, as its owner @param runtimeRole of Hookyard's processes */
export async function makeTables(ownerUrl: string, runtimeRole = 'hookyard_runtime'): Promise<void> {
  await migrate(ownerUrl);
  const pool = createPool(ownerUrl, { max: 1, statementTimeoutMs: 30_000, onError: () => {} });
  await grantRuntime(pool, runtimeRole);
  await grantTenant(pool, TENANT_ROLE);
  await pool.end();
}
