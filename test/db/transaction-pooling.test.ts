// Statements on connections that a pooler gives to others between two transactions: each has its settings and its
// organization, and leaves nothing behind. A real PgBouncer with fewer sessions than there are connections.
import { expect } from 'chai';
import pg from 'pg';
import { readSettings } from '../../core/config/config.ts';
import { ConfigError } from '../../core/config/secret-files.ts';
import { actingFor } from '../../db/connections/by-organization.ts';
import { findDatabase } from '../../db/connections/client.ts';
import { isStatementTimeout, isUniqueViolation } from '../../db/connections/database-errors.ts';
import { createPool, inSnapshot, inTransaction, type Pool } from '../../db/connections/pool.ts';
import { createOrm, type MikroORM } from '../../db/records/orm.ts';
import { TENANT_ROLE } from '../../local/postgres/roles.ts';
import { insertSource, type OwnDatabase, ownDatabase } from '../support/database/own-database.ts';
import { commandLine } from '../support/programs/cli.ts';
import { type PgBouncer, requirePgBouncer, startPgBouncer } from '../support/servers/pgbouncer.ts';
import { createOrganization } from '../support/service.ts';
import { asServices } from '../support/stack.ts';
import { until } from '../support/until.ts';

const LOOK = `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
  current_setting('plan_cache_mode') as plans, current_setting('enable_seqscan') as scans`;
// Without names, statements are planned for their values.
const HOT = { statement: '7s', lock: '2s', plans: 'auto', scans: 'off' };
const PLAIN = { statement: '9s', lock: '0', plans: 'auto', scans: 'on' };
const SERVERS = { statement: '0', lock: '0', plans: 'auto', scans: 'on' };
const onError = () => {};

describe('pooling by transaction', () => {
  let database: OwnDatabase;
  let pooler: PgBouncer;
  let hot: Pool;
  let plain: Pool;
  let tenants: Pool;
  let orm: MikroORM;
  let owners: { organizationId: string; sourceId: string }[];
  before(async function () {
    requirePgBouncer(this);
    database = await ownDatabase('by_transaction');
    const services = asServices(database.databaseUrl);
    pooler = await startPgBouncer(services, { pool_mode: 'transaction', default_pool_size: '3' });
    const { databaseUrl: url } = pooler;
    const settings = readSettings({ DATABASE_URL: url, DATABASE_DIRECT_URL: services });
    const { transactionPooler } = await findDatabase(settings, url);
    const common = { max: 8, onError, transactionPooler };
    hot = createPool(url, { ...common, statementTimeoutMs: 7000, lockTimeoutMs: 2000, hotPath: true });
    plain = createPool(url, { ...common, statementTimeoutMs: 9000 });
    tenants = createPool(url, { ...common, statementTimeoutMs: 9000, tenantRole: TENANT_ROLE });
    orm = createOrm(url, 8, { tenantRole: TENANT_ROLE, transactionPooler });
    owners = [await insertSource(database.pool), await insertSource(database.pool, 'beta')];
  });
  after(async () => {
    await Promise.all([hot?.end(), plain?.end(), tenants?.end(), orm?.close()]);
    await pooler?.stop();
    await database?.close();
  });

  const ways: [way: string, look: (pool: Pool) => Promise<unknown>][] = [
    ['alone', async (pool) => (await pool.query(LOOK)).rows[0]],
    ['with a parameter', async (pool) => (await pool.query(`${LOOK} where $1`, [true])).rows[0]],
    [
      'with a name',
      async (pool) => (await pool.query({ name: 'look', text: `${LOOK} where $1`, values: [true] })).rows[0],
    ],
    [
      'in a transaction',
      (pool) => inTransaction(pool, async (db) => (await db.query(`${LOOK} where $1`, [true])).rows[0]),
    ],
    ['in a snapshot', (pool) => inSnapshot(pool, async (db) => (await db.query(LOOK)).rows[0])],
  ];
  for (const [way, look] of ways) {
    it(`gives a statement ${way} the settings of its pool, while others have theirs`, async () => {
      const looks = Array.from({ length: 60 }, (_, n) => look(n % 2 === 0 ? hot : plain));
      expect(await Promise.all(looks)).to.deep.equal(looks.map((_, n) => (n % 2 === 0 ? HOT : PLAIN)));
    });
  }

  it('leaves no setting behind, however a transaction ends', async () => {
    await hot.query('select 1');
    await inTransaction(hot, (db) => db.query('select $1::int', [1]));
    await hot.query('select 1/$1::int', [0]).catch(() => 'failed');
    await inTransaction(hot, (db) => db.query('select 1/0')).catch(() => 'failed');
    const clients = Array.from({ length: 3 }, () => new pg.Client({ connectionString: pooler.databaseUrl }));
    try {
      await Promise.all(clients.map((client) => client.connect()));
      // Each holds a session, so that all are looked at.
      await Promise.all(clients.map((client) => client.query('begin')));
      const found = await Promise.all(clients.map(async (client) => (await client.query(LOOK)).rows[0]));
      expect(found).to.deep.equal([SERVERS, SERVERS, SERVERS]);
    } finally {
      await Promise.all(clients.map((client) => client.end()));
    }
  });

  it('ends a statement that takes too long', async () => {
    const short = createPool(pooler.databaseUrl, { max: 1, statementTimeoutMs: 300, onError, transactionPooler: true });
    const failure = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);
    try {
      expect(isStatementTimeout(await failure(short.query('select pg_sleep(20)')))).to.equal(true);
      expect(isStatementTimeout(await failure(short.query('select pg_sleep($1)', [20])))).to.equal(true);
      const late = failure(inTransaction(short, (db) => db.query('select pg_sleep(20)')));
      expect(isStatementTimeout(await late)).to.equal(true);
      expect((await short.query('select 1 as one')).rows).to.deep.equal([{ one: 1 }]);
    } finally {
      await short.end();
    }
  });

  it('answers what node-postgres answers on a connection of its own', async () => {
    const direct = database.pool;
    await direct.query('create table answers (id int primary key); grant all on answers to public');
    const statements: [string, unknown[]?][] = [
      ['select 1 as one, 2 as two'],
      ['select $1::int as one', [1]],
      ['select where false'],
      ['insert into answers values (3), (4)'],
      ['insert into answers values ($1) returning id', [3]],
      ['update answers set id = id + 10'],
      ['delete from answers where id = $1', [11]],
      ['select 1 as one; select 2 as two'],
      ['truncate answers'],
    ];
    for (const [text, values] of statements) {
      const from = async (pool: Pool) => {
        await direct.query('truncate answers; insert into answers values (1), (2)');
        return essence(await pool.query(text, values));
      };
      expect(await from(plain), text).to.deep.equal(await from(direct));
    }
    const twice = await plain.query('insert into answers values ($1), ($1)', [7]).catch((error: unknown) => error);
    expect(isUniqueViolation(twice)).to.equal(true);
    await direct.query('insert into answers values (1), (2)');
    const { rowCount } = await inTransaction(plain, (db) => db.query('delete from answers where id > $1', [0]));
    expect(rowCount).to.equal(2);
    const byCallback = await new Promise<pg.QueryResult>((resolve, reject) => {
      plain.query('select $1::int as one', [1], (error, result) => (error ? reject(error) : resolve(result)));
    });
    expect(byCallback.rows).to.deep.equal([{ one: 1 }]);
  });

  it('runs the statements of one connection in turn, those that fail too', async () => {
    const client = await plain.connect();
    try {
      const transactions = await Promise.all(
        Array.from({ length: 12 }, async (_, n) => {
          const text = 'select txid_current()::text as id, 1 / $1::int as one';
          const { rows } = await client.query(text, [n % 3]).catch(() => ({ rows: [{ id: `failed ${n}` }] }));
          return String(rows[0].id);
        }),
      );
      expect(transactions.filter((id) => id.startsWith('failed'))).to.deep.equal(
        [0, 3, 6, 9].map((n) => `failed ${n}`),
      );
      expect(new Set(transactions).size).to.equal(12);
      expect((await client.query(LOOK)).rows).to.deep.equal([PLAIN]);
    } finally {
      client.release();
    }
  });

  it('has left the transaction after a commit that fails', async () => {
    await database.pool.query(
      'create table deferred (id int unique deferrable initially deferred); grant all on deferred to public',
    );
    const client = await plain.connect();
    try {
      await client.query('begin');
      await client.query('insert into deferred values (1), (1)');
      const failure = await client.query('commit').catch((error: unknown) => error);
      expect(isUniqueViolation(failure)).to.equal(true);
      expect((await client.query(LOOK)).rows).to.deep.equal([PLAIN]);
    } finally {
      client.release();
    }
    const alone = await plain.query('insert into deferred values (1), (1)').catch((error: unknown) => error);
    expect(isUniqueViolation(alone)).to.equal(true);
    expect((await plain.query('select from deferred')).rowCount).to.equal(0);
  });

  it('gives each request the rows of its organization only, on whatever session', async () => {
    const seen = async () => (await tenants.query('select id from sources')).rows.map(({ id }) => id);
    const inOne = () =>
      inTransaction(tenants, async (db) =>
        (await db.query('select id from sources where $1', [true])).rows.map(({ id }) => id),
      );
    const byOrm = async () =>
      (await orm.em.fork().execute<{ id: string }[]>('select id from sources')).map(({ id }) => id);
    const ormTransaction = () =>
      orm.em
        .fork()
        .transactional(async (em) =>
          (await em.execute<{ id: string }[]>('select id from sources')).map(({ id }) => id),
        );
    for (const look of [seen, inOne, byOrm, ormTransaction]) {
      const requests = Array.from({ length: 60 }, (_, n) => [...owners, null][n % 3] ?? null);
      const answers = await Promise.all(
        requests.map((owner) => (owner === null ? look() : actingFor(owner.organizationId, look))),
      );
      expect(answers).to.deep.equal(requests.map((owner) => (owner === null ? [] : [owner.sourceId])));
    }
    // The services see both.
    expect((await plain.query('select from sources')).rowCount).to.equal(2);
  });

  it('runs nothing for tenants where the role cannot be taken, and keeps no transaction open', async () => {
    const url = pooler.databaseUrl;
    const options = {
      max: 1,
      statementTimeoutMs: 9000,
      tenantRole: 'pg_write_all_data',
      onError,
      transactionPooler: true,
    };
    const refused = createPool(url, options);
    try {
      for (const work of [
        () => refused.query('select from sources'),
        () => refused.query('select from sources where $1', [true]),
        () => inTransaction(refused, (db) => db.query('select from sources')),
      ])
        expect(await actingFor(owners[0]?.organizationId ?? '', work).catch(String)).to.match(
          /permission denied to set role/,
        );
    } finally {
      await refused.end();
    }
    await until('no transaction to be open', async () => {
      const { rowCount } = await database.pool.query(
        `select from pg_stat_activity where datname = current_database() and state like 'idle in%'`,
      );
      return rowCount === 0;
    });
  });
});

const essence = (result: pg.QueryResult | pg.QueryResult[]): unknown =>
  Array.isArray(result)
    ? result.map(essence)
    : { command: result.command, rowCount: result.rowCount, rows: result.rows };

describe('a pooler before PostgreSQL', () => {
  let database: OwnDatabase;
  let session: PgBouncer;
  let transaction: PgBouncer;
  before(async function () {
    requirePgBouncer(this);
    database = await ownDatabase('pooler_modes');
    [session, transaction] = await Promise.all([
      startPgBouncer(database.databaseUrl, {}),
      startPgBouncer(database.databaseUrl, { pool_mode: 'transaction' }),
    ]);
  });
  after(async () => {
    await Promise.all([session?.stop(), transaction?.stop()]);
    await database?.close();
  });

  const find = (url: string, directUrl?: string) =>
    findDatabase(
      readSettings({ DATABASE_URL: url, ...(directUrl !== undefined && { DATABASE_DIRECT_URL: directUrl }) }),
      url,
    );

  it('is in transaction mode where there is a direct URL, and there only', async () => {
    const [url, directUrl] = [transaction.databaseUrl, database.databaseUrl];
    expect(await find(url, directUrl)).to.deep.equal({ url, directUrl, transactionPooler: true });
    for (const only of [session.databaseUrl, directUrl])
      expect(await find(only)).to.deep.equal({ url: only, directUrl: only, transactionPooler: false });
  });

  it('names the start parameter that a pooler refuses', async () => {
    const url = new URL(session.databaseUrl);
    url.searchParams.set('options', '-c work_mem=5MB');
    const error = await find(url.href).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(ConfigError);
    expect(String(error)).to.match(/rejected a startup parameter in DATABASE_URL.*options/);
  });

  it('does not stand before the commands of an operator, which use the direct URL', async () => {
    const cli = commandLine(await createOrganization());
    await transaction.kill();
    const env = { DATABASE_URL: transaction.databaseUrl, DATABASE_DIRECT_URL: database.databaseUrl };
    expect((await cli.run(['migrate'], { env })).code).to.equal(0);
  });
});
