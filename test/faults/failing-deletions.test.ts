import { Connection } from '@temporalio/client';
import { expect } from 'chai';
import { finishOrganizations, type OrganizationDeletionDeps } from '../../activities/maintenance/deletions.ts';
import { readSettings } from '../../core/config/config.ts';
import { newId } from '../../core/text/ids.ts';
import { createLog } from '../../core/process/log.ts';
import { createPool } from '../../db/connections/pool.ts';
import { InstallationClient } from '../../temporal-config/client.ts';
import { stackAddresses } from '../support/stack.ts';
import { useDatabase } from '../support/use-hookyard.ts';
import { inOpenTransaction } from '../support/database/row-lock.ts';
import { execute, selectColumn } from '../support/database/sql.ts';

describe('deleting organizations of which one cannot be deleted', () => {
  const { database } = useDatabase('deletions');
  let connection: Connection;
  let deps: OrganizationDeletionDeps;
  before(async () => {
    const { temporalAddress, namespace } = stackAddresses();
    connection = await Connection.connect({ address: temporalAddress });
    deps = {
      pool: createPool(database.databaseUrl, { max: 2, statementTimeoutMs: 1000, onError: () => {} }),
      client: new InstallationClient({ connection, namespace, prefix: '' }),
      log: createLog({ ...readSettings({}), LOG_LEVEL: 'silent' }, 'worker'),
    };
  });
  after(async () => {
    await deps?.pool.end();
    await connection?.close();
  });
  beforeEach(() => database.pool.query("delete from organizations; delete from upkeep where kind = 'failure'"));

  /** One whose deletion was requested, with a source; the first one first. */
  async function deleted(): Promise<string> {
    const id = newId('org');
    await execute(database.pool)`insert into organizations (id, slug, name, plan, suspended_at, deleted_at)
      values (${id}, ${id}, ${id}, 'pro', now(), now())`;
    await execute(database.pool)`insert into sources (id, organization_id, name, slug)
      values (${newId('src')}, ${id}, 'S', ${newId('src')})`;
    return id;
  }
  const left = () => selectColumn<string>(database.pool)`select organization_id as id from sources
    order by organization_id`;
  /** One round. @returns whether there is more to do now, or the error */
  const round = () => finishOrganizations(deps).catch((error: Error) => error.message);
  const passTime = () => database.pool.query(`update organizations set emptied_at = emptied_at - interval '1 hour'`);

  it('with an error that repeating does not mend: the others are finished, and so is it when it can be', async () => {
    const [failing] = [await deleted(), await deleted(), await deleted()];
    await database.pool.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused by a test'; end $$;
       create trigger refuse before delete on sources for each row when (old.organization_id = '${failing}')
       execute function refuse()`,
    );
    try {
      expect(await round()).to.equal('refused by a test');
      expect(await left()).to.deep.equal([failing]);
      await passTime();
      expect(await round()).to.equal('refused by a test');
      const { rows } = await database.pool.query('select id from organizations');
      expect(rows).to.deep.equal([{ id: failing }]);
    } finally {
      await database.pool.query('drop trigger refuse on sources; drop function refuse()');
    }
    expect(await round()).to.equal(false);
    await passTime();
    expect(await round()).to.equal(false);
    expect((await database.pool.query('select from organizations')).rowCount).to.equal(0);
  });

  it('with an error that repeating may mend: the others do not wait for it', async () => {
    const [failing] = [await deleted(), await deleted(), await deleted()];
    await inOpenTransaction(database.pool, async (holder) => {
      await holder.query('select from sources where organization_id = $1 for update', [failing]);
      let more: boolean | string = true;
      for (let rounds = 0; rounds < 2 && (await left()).length > 1; rounds += 1) more = await round();
      expect(await left()).to.deep.equal([failing]);
      // Nothing else is to be done: it is tried again later, not at once.
      expect(more).to.be.a('string').that.includes('timeout');
    });
    expect(await round()).to.equal(false);
    expect(await left()).to.deep.equal([]);
  });
});
