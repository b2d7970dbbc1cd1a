// The session lock of a relay: held as long as its process is connected, and by nobody else's session.
import { expect } from 'chai';
import { pino } from 'pino';
import { newId } from '../../core/ids.ts';
import { holdSession } from '../../db/hot-path/relay-session.ts';
import { type OwnDatabase, ownDatabase } from '../support/own-database.ts';
import { requirePgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { until } from '../support/until.ts';

const log = pino({ level: 'silent' });

describe('the session lock of a relay', function () {
  this.timeout(120_000);
  let database: OwnDatabase;
  before(async () => {
    database = await ownDatabase('session');
  });
  after(() => database.close());

  /** Processes of PostgreSQL that hold an advisory lock in this database. */
  async function holders(): Promise<number[]> {
    const { rows } = await database.pool.query<{ pid: number }>(
      `select pid from pg_locks where locktype = 'advisory' and granted
       and database = (select oid from pg_database where datname = current_database())`,
    );
    return rows.map(({ pid }) => pid);
  }

  it('is held until the session is closed', async () => {
    const session = holdSession(database.databaseUrl, newId('req'), () => {}, log);
    await until('it to be held', () => session.isHeld());
    expect(await holders()).to.have.length(1);
    await session.close();
    expect(session.isHeld()).to.equal(false);
    await until('it to be free', async () => (await holders()).length === 0);
  });

  it('is said to be lost when its connection breaks, and taken again', async () => {
    let broken = 0;
    const session = holdSession(database.databaseUrl, newId('req'), () => (broken += 1), log);
    try {
      await until('it to be held', () => session.isHeld());
      const before = await holders();
      await database.pool.query('select pg_terminate_backend($1)', before);
      await until('it to be lost', () => broken === 1);
      await until('it to be held again', () => session.isHeld());
      expect(await holders())
        .to.have.length(1)
        .and.not.to.deep.equal(before);
    } finally {
      await session.close();
    }
  });

  it('is not taken behind a pooler, whose sessions belong to anybody', async function () {
    requirePgBouncer(this);
    const pooler = await startPgBouncer(database.databaseUrl);
    let said = '';
    const session = holdSession(
      pooler.databaseUrl,
      newId('req'),
      () => {},
      pino({ level: 'info' }, { write: (text: string) => (said += text) }),
    );
    try {
      await until('it to notice the pooler', () => said.includes('a pooler stands before PostgreSQL'));
      expect(session.isHeld()).to.equal(false);
      expect(await holders()).to.deep.equal([]);
    } finally {
      await session.close();
      await pooler.stop();
    }
  });
});
