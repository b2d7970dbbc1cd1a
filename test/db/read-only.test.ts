// Connections to a database that takes no writes: they are closed, so that work continues when it takes writes again.
import { expect } from 'chai';
import { createOrm, type MikroORM } from '../../db/records/orm.ts';
import { isReadOnlyServer, isTransientDatabaseError } from '../../db/connections/database-errors.ts';
import { createPool, inTransaction, type Pool } from '../../db/connections/pool.ts';
import { readOnlySwitch } from '../support/servers/read-only.ts';
import { until } from '../support/until.ts';
import { useDatabase } from '../support/use-hookyard.ts';

const WRITE = `insert into organizations (id, slug, name, plan) values (gen_random_uuid(), gen_random_uuid(), 'Acme', 'free')`;

describe('connections to a read-only server', () => {
  const { database } = useDatabase('read_only', { connections: 1 });
  let pool: Pool;
  let orm: MikroORM;
  before(async () => {
    pool = createPool(database.databaseUrl, { max: 1, statementTimeoutMs: 10_000, onError: () => {} });
    orm = createOrm(database.databaseUrl, 1);
  });
  after(async () => {
    await Promise.all([pool.end(), orm.close()]);
  });

  const ways: [way: string, write: () => Promise<unknown>, read: () => Promise<unknown>][] = [
    ['a statement', () => pool.query(WRITE), () => pool.query('select 1')],
    ['a transaction', () => inTransaction(pool, (db) => db.query(WRITE)), () => pool.query('select 1')],
    ['the object mapper', () => orm.em.fork().execute(WRITE), () => orm.em.fork().execute('select 1')],
    [
      'a transaction of the object mapper',
      () => orm.em.fork().transactional((em) => em.execute(WRITE)),
      () => orm.em.fork().execute('select 1'),
    ],
  ];
  for (const [way, write, read] of ways) {
    it(`are dropped when ${way} was refused, and kept for reading before`, async () => {
      const server = readOnlySwitch(database.databaseUrl);
      await server.on();
      // The pool may not have heard yet that its connection was closed.
      await until('a new connection', () =>
        read().then(
          () => true,
          () => false,
        ),
      );
      await server.off();
      // The connection is from before: only by giving it up can anybody write.
      const refused = await write().then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(isReadOnlyServer(refused), String(refused)).to.equal(true);
      expect(isTransientDatabaseError(refused)).to.equal(true);
      await write();
    });
  }
});
