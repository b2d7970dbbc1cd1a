// Statements of workers about several organizations, beside rows that somebody keeps locked.
import { expect } from 'chai';
import { isLockTimeout } from '../../db/connections/database-errors.ts';
import { withShortLocks } from '../../db/connections/short-locks.ts';
import { noteConcurrency } from '../../db/delivery/concurrency.ts';
import { takeTurns } from '../../db/delivery/destination-turns.ts';
import { ReplayDatabase } from '../support/replay-database.ts';

describe('statements about the destinations of several organizations', () => {
  let db: ReplayDatabase;
  before(async () => {
    db = await ReplayDatabase.make();
  });
  after(() => db.close());
  beforeEach(async () => {
    await db.renew();
    await db.pool.query('update destinations set max_concurrency = 1 where id = $1', [db.destinationId]);
  });

  const statements = {
    'note what is under way': () =>
      withShortLocks(db.pool, (queryable) =>
        noteConcurrency(queryable, 'worker', [{ destinationId: db.destinationId, places: 3 }]),
      ),
    'take turns': () =>
      withShortLocks(db.pool, (queryable) =>
        takeTurns(queryable, 'worker', [{ destinationId: db.destinationId, wants: true, places: [] }], true),
      ),
  };

  for (const [what, run] of Object.entries(statements)) {
    it(`${what} beside an import, which locks what it overwrites`, async () => {
      await whileLocked('for no key update', async () => {
        expect(await run()).to.have.length(1);
      });
    });

    it(`${what} without waiting for long for a row that is to be deleted`, async () => {
      await whileLocked('for update', async () => {
        const error: unknown = await run().catch((failure: unknown) => failure);
        expect(isLockTimeout(error), String(error)).to.equal(true);
      });
      expect(await run()).to.have.length(1);
    });
  }

  async function whileLocked(lock: string, work: () => Promise<void>): Promise<void> {
    const holder = await db.pool.connect();
    try {
      await holder.query('begin');
      await holder.query(`select from destinations where id = $1 ${lock}`, [db.destinationId]);
      await work();
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  }
});
