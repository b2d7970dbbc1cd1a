// The standby that other tests promote: it has what the primary has committed, and takes writes when it is promoted.
import { expect } from 'chai';
import { join } from 'node:path';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import { type Standby, startStandby } from '../support/standby.ts';
import { until } from '../support/until.ts';

const ROWS = 200;
const READ_ONLY = '25006';
const WAITING = `select from pg_stat_activity where wait_event = 'SyncRep'`;

describe('a streaming standby', function () {
  let primary: OwnPostgres;
  let standby: Standby;
  let pools: Pool[] = [];
  const poolOf = ({ postgres }: OwnPostgres | Standby) => {
    const url = postgres.url('postgres');
    const pool = createPool(url, { max: 4, statementTimeoutMs: 20_000, onError: () => {} });
    pools.push(pool);
    return pool;
  };
  before(async () => {
    primary = await startOwnPostgres('primary');
  });
  afterEach(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    pools = [];
    await standby?.remove();
  });
  after(() => primary?.remove());

  const makeStandby = async () => {
    standby = await startStandby(primary.postgres.url('postgres'), join(primary.dataDir, 'standby'), {
      isSynchronous: true,
    });
  };

  it('holds the commits of the primary up while it is away, and no more when it is removed', async () => {
    await makeStandby();
    const pool = poolOf(primary);
    await pool.query('create table held (n int)');
    await standby.postgres.service.kill();
    const insert = pool.query('insert into held values (1)');
    await until('the commit to wait', async () => (await pool.query(WAITING)).rowCount === 1);
    expect((await pool.query('select from held')).rowCount, 'seen by others').to.equal(0);
    await standby.remove();
    expect((await insert).rowCount).to.equal(1);
  });

  it('has all that the primary committed when that is killed, and takes its place', async () => {
    await makeStandby();
    const [before, after] = [poolOf(primary), poolOf(standby)];
    await before.query('create table kept (n int primary key)');
    const refused = await after.query('insert into kept values (0)').catch(({ code }: { code?: string }) => code);
    expect(refused).to.equal(READ_ONLY);
    const committed: number[] = [];
    let killed: Promise<void> | undefined;
    for (let n = 1; ; n += 1) {
      try {
        await before.query('insert into kept values ($1)', [n]);
      } catch {
        break;
      }
      committed.push(n);
      if (n === ROWS) killed = primary.postgres.service.kill();
    }
    await killed;
    await standby.promote();
    const { rows } = await after.query<{ n: number }>('select n from kept order by n');
    expect(rows.map(({ n }) => n)).to.include.members(committed);
    await after.query('insert into kept values (-1)');
  });
});
