import { expect } from 'chai';
import { migrate } from '../../db/schema/migrate.ts';
import { createPool } from '../../db/connections/pool.ts';
import { grantRuntime, findTenantRole, grantTenant } from '../../db/schema/roles.ts';
import { TENANT_ROLE } from '../../local/postgres/roles.ts';
import { asServices } from '../support/stack.ts';
import { useDatabase, usePool } from '../support/use-hookyard.ts';

const PROCESSES = 8;
const ROUNDS = 5;

describe('Rights of roles', () => {
  const { database } = useDatabase('rights');
  const processes = Array.from({ length: PROCESSES }, () => usePool(database, { max: 1, statementTimeoutMs: 60_000 }));

  it('are given by several processes at once, while others bring the schema up to date', async () => {
    const { username } = new URL(asServices(database.databaseUrl));
    for (let round = 0; round < ROUNDS; round += 1) {
      // So that there is something to do.
      await database.pool.query(`drop policy ${TENANT_ROLE} on sources; revoke all on sources from ${TENANT_ROLE}`);
      await Promise.all(
        processes.map(async (pool, number) => {
          if (number % 4 === 0) await migrate(database.databaseUrl);
          await grantRuntime(pool, username);
          await grantTenant(pool, TENANT_ROLE);
        }),
      );
    }
    const services = createPool(asServices(database.databaseUrl), {
      ...{ max: 1, statementTimeoutMs: 20_000, onError: () => {} },
    });
    try {
      expect(await findTenantRole(services)).to.equal(TENANT_ROLE);
      await services.query(`set role ${TENANT_ROLE}`);
      expect((await services.query('select from sources')).rowCount).to.equal(0);
    } finally {
      await services.end();
    }
  });
});
