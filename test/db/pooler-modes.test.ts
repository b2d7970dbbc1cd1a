// Which pooler may stand before PostgreSQL, and what is said where one cannot work: a real PgBouncer in each of its modes.
import { expect } from 'chai';
import { pino } from 'pino';
import { ConfigError, readSettings } from '../../core/config.ts';
import { type Database, findDatabase } from '../../db/connections/database.ts';
import { migrate } from '../../db/migrate/migrate.ts';
import { commandLine } from '../support/cli.ts';
import { createMigratedDatabase, type OwnDatabase, ownDatabase } from '../support/own-database.ts';
import { knowsNames, type PgBouncer, requirePgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { createOrganization, runToEnd } from '../support/service.ts';
import { asServices } from '../support/stack.ts';

const log = pino({ level: 'silent' });
const LOOKS = 5;
const LOOKS_AT_ONCE = 4;
const OWN_SESSIONS = { keepsSession: true, namesStatements: true };

describe('a pooler before PostgreSQL', function () {
  this.timeout(120_000);
  let database: OwnDatabase;
  let session: PgBouncer;
  let transaction: PgBouncer;
  let statement: PgBouncer;
  before(async function () {
    requirePgBouncer(this);
    database = await ownDatabase('pooler_modes');
    const { databaseUrl } = database;
    [session, transaction, statement] = await Promise.all([
      startPgBouncer(databaseUrl, {}),
      startPgBouncer(databaseUrl, {
        pool_mode: 'transaction',
        ...(knowsNames() && { max_prepared_statements: '200' }),
      }),
      startPgBouncer(databaseUrl, { pool_mode: 'statement' }),
    ]);
  });
  after(async () => {
    await Promise.all([session, transaction, statement].map((pooler) => pooler?.stop()));
    await database?.close();
  });

  const find = (url: string, directUrl?: string): Promise<Database> =>
    findDatabase(
      readSettings({ DATABASE_URL: url, ...(directUrl !== undefined && { DATABASE_DIRECT_URL: directUrl }) }),
      url,
      log,
    );
  async function refusal(url: string, directUrl?: string): Promise<string> {
    const error = await find(url, directUrl).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(ConfigError);
    return String(error);
  }

  it('is none where the URL leads to PostgreSQL itself', async () => {
    const { databaseUrl } = database;
    expect(await find(databaseUrl)).to.deep.equal({
      url: databaseUrl,
      directUrl: databaseUrl,
      pooling: OWN_SESSIONS,
    });
  });

  it('works in session mode with the defaults of PgBouncer', async () => {
    const { databaseUrl } = session;
    expect(await find(databaseUrl)).to.deep.equal({
      url: databaseUrl,
      directUrl: databaseUrl,
      pooling: OWN_SESSIONS,
    });
  });

  it('works in transaction mode beside a direct URL', async () => {
    const found = await find(transaction.databaseUrl, database.databaseUrl);
    expect(found).to.deep.include({ url: transaction.databaseUrl, directUrl: database.databaseUrl });
    expect(found.pooling.keepsSession).to.equal(false);
    // That URL may lead through a pooler in session mode.
    expect(await find(transaction.databaseUrl, session.databaseUrl)).to.include({ directUrl: session.databaseUrl });
  });

  it('is recognized when it is busy', async () => {
    const found = await Promise.allSettled(
      Array.from({ length: 10 }, async (_, n) => {
        const pooler = n % 2 === 0 ? transaction : session;
        return (await find(pooler.databaseUrl, database.databaseUrl)).pooling.keepsSession;
      }),
    );
    expect(found.map((each) => each.status === 'fulfilled' && each.value)).to.deep.equal(
      Array.from({ length: 10 }, (_, n) => n % 2 === 1),
    );
  });

  it('has names of statements only where all its sessions know them, whatever other processes have prepared there', async () => {
    const looks = new Set<boolean>();
    for (let round = 0; round < LOOKS; round += 1) {
      const found = await Promise.all(
        Array.from({ length: LOOKS_AT_ONCE }, () => find(transaction.databaseUrl, database.databaseUrl)),
      );
      for (const { pooling } of found) looks.add(pooling.namesStatements);
    }
    expect([...looks]).to.deep.equal([knowsNames()]);
  });

  it('is refused in transaction mode without a direct URL, and in statement mode', async () => {
    expect(await refusal(transaction.databaseUrl)).to.match(/transaction mode.*set DATABASE_DIRECT_URL/);
    expect(await refusal(statement.databaseUrl, database.databaseUrl)).to.match(/statement mode.*use pool_mode/);
  });

  it('is refused behind the direct URL, unless sessions stay with their connection', async () => {
    for (const { databaseUrl } of [transaction, statement])
      expect(await refusal(session.databaseUrl, databaseUrl)).to.match(
        /^ConfigError: DATABASE_DIRECT_URL leads to a pooler/,
      );
  });

  it('is refused where the two URLs lead to different databases', async () => {
    const other = await createMigratedDatabase(`other_${process.pid}`);
    try {
      expect(await refusal(transaction.databaseUrl, other.databaseUrl)).to.include('different databases');
    } finally {
      await other.drop();
    }
  });

  it('names the start parameter that a pooler refuses', async () => {
    const url = new URL(session.databaseUrl);
    url.searchParams.set('options', '-c work_mem=5MB');
    expect(await refusal(url.href)).to.match(/refuses a start parameter of DATABASE_URL.*options/);
  });

  it('does not hold the lock of migrations, which nobody would free', async () => {
    const refused = await migrate(transaction.databaseUrl).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(ConfigError);
    expect(await migrate(session.databaseUrl)).to.deep.equal([]);
    expect(await migrate(database.databaseUrl)).to.deep.equal([]);
  });

  for (const role of ['api', 'worker'] as const) {
    it(`keeps the ${role} from starting in transaction mode alone, which says what to set`, async () => {
      const pooled = asServices(database.databaseUrl);
      const ended = await runToEnd(role, { DATABASE_URL: transaction.urlOf(pooled) });
      expect(ended.code).to.equal(1);
      expect(ended.output).to.include('set DATABASE_DIRECT_URL to PostgreSQL itself');
    });
  }

  it('does not stand before the commands of an operator, which use the direct URL', async () => {
    const cli = commandLine(await createOrganization());
    const env = { DATABASE_URL: transaction.databaseUrl, DATABASE_DIRECT_URL: database.databaseUrl };
    expect((await cli.run(['migrate'], { env })).code).to.equal(0);
    const refused = await cli.run(['migrate'], { env: { ...env, DATABASE_DIRECT_URL: '' } });
    expect(refused.code).to.not.equal(0);
    expect(refused.stderr).to.include('let it lead to PostgreSQL itself');
  });
});
