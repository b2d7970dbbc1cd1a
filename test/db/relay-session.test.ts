// The session lock of a relay: held as long as its process is connected, and by nobody else's session.
import { expect } from 'chai';
import { pino } from 'pino';
import { newId } from '../../core/ids.ts';
import { holdSession } from '../../db/hot-path/relay-session.ts';
import { type OwnDatabase, ownDatabase } from '../support/own-database.ts';
import { requirePgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { holdersOf } from '../support/session-locks.ts';
import { until } from '../support/until.ts';

const log = pino({ level: 'silent' });

describe('the session lock of a relay', function () {
  this.timeout(120_000);
  let database: OwnDatabase;
  before(async () => {
    database = await ownDatabase('session');
  });
  after(() => database.close());

  const holders = (name: string) => holdersOf(database.pool, [name]);

  it('is held until the session is closed', async () => {
    const name = newId('req');
    const session = holdSession(database.databaseUrl, name, () => {}, log);
    await until('it to be held', () => session.isHeld());
    expect(await holders(name)).to.have.length(1);
    await session.close();
    expect(session.isHeld()).to.equal(false);
    await until('it to be free', async () => (await holders(name)).length === 0);
  });

  it('is said to be lost when its connection breaks, and taken again', async () => {
    let broken = 0;
    const name = newId('req');
    const session = holdSession(database.databaseUrl, name, () => (broken += 1), log);
    try {
      await until('it to be held', () => session.isHeld());
      const before = await holders(name);
      await database.pool.query('select pg_terminate_backend($1)', before);
      await until('it to be lost', () => broken === 1);
      await until('it to be held again', () => session.isHeld());
      expect(await holders(name))
        .to.have.length(1)
        .and.not.to.deep.equal(before);
    } finally {
      await session.close();
    }
  });

  it('is held through a pooler in session mode, which frees it at the end too', async function () {
    requirePgBouncer(this);
    const pooler = await startPgBouncer(database.databaseUrl, { pool_mode: 'session' });
    const name = newId('req');
    const session = holdSession(pooler.databaseUrl, name, () => {}, log);
    try {
      await until('it to be held', () => session.isHeld());
      expect(await holders(name)).to.have.length(1);
      await session.close();
      await until('it to be free', async () => (await holders(name)).length === 0);
    } finally {
      await session.close();
      await pooler.stop();
    }
  });
});
