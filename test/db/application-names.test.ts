// PostgreSQL shows whose its connections are, while they do their work.
import { expect } from 'chai';
import { migrate } from '../../db/schema/migrate.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { LOCKS } from '../../db/sql/rules.ts';
import { commandLine } from '../support/programs/cli.ts';
import { createMigratedDatabase } from '../support/database/own-database.ts';
import { createOrganization, sharedService, testPool } from '../support/service.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';

async function names(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    'select distinct application_name as name from pg_stat_activity where datname = current_database()',
  );
  return rows.map(({ name }) => name);
}

describe('the names of connections', () => {
  let databaseUrl: string;
  let drop: () => Promise<void>;
  let pool: Pool;
  before(async () => {
    ({ databaseUrl, drop } = await createMigratedDatabase('names'));
    pool = createPool(databaseUrl, { max: 2, statementTimeoutMs: 20_000, onError: () => {} });
  });
  after(async () => {
    await pool.end();
    await drop();
  });

  it('tell API and worker', async () => {
    await Promise.all([sharedService('api'), sharedService('worker')]);
    expect(await names(testPool())).to.include.members(['hookyard-api', 'hookyard-worker']);
  });

  it('tell migrations', async () => {
    const holder = await pool.connect();
    await holder.query('select pg_advisory_lock($1)', [LOCKS.migration]);
    const migrating = migrate(databaseUrl);
    await until('the migrations to wait', async () => (await names(pool)).includes('hookyard-migrate'));
    await holder.query('select pg_advisory_unlock($1)', [LOCKS.migration]);
    holder.release();
    await migrating;
  });

  it('tell the command line', async () => {
    const holder = await pool.connect();
    await holder.query('begin; lock table organizations in access exclusive mode');
    const listing = commandLine(await createOrganization()).start(['orgs', 'list'], {
      env: { DATABASE_URL: databaseUrl },
    });
    await until('the command to wait', async () => (await names(pool)).includes('hookyard-cli'));
    await holder.query('rollback');
    holder.release();
    expect((await listing.ended).code).to.equal(0);
  });

  it('are what the URL says, if it says one', async () => {
    const url = new URL(stackAddresses().databaseUrl);
    url.searchParams.set('application_name', 'of-the-operator');
    const own = createPool(url.href, { name: 'hookyard-api', max: 1, statementTimeoutMs: 5000, onError: () => {} });
    const { rows } = await own.query<{ application_name: string }>('show application_name');
    await own.end();
    expect(rows[0]?.application_name).to.equal('of-the-operator');
  });
});
