// What workers tell each other of destinations, straight on PostgreSQL.
import { expect } from 'chai';
import { newId } from '../../core/ids.ts';
import {
  concurrencyLimit,
  forgetConcurrency,
  lowConcurrency,
  noteConcurrency,
  workerShare,
} from '../../db/delivery/concurrency.ts';
import { type OwnDatabase, ownDatabase } from '../support/own-database.ts';

describe('the exchange of limits', () => {
  let database: OwnDatabase;
  const destinationId = newId('dst');
  before(async () => {
    database = await ownDatabase('concurrency');
    const organizationId = newId('org');
    await database.pool.query(`insert into organizations (id, slug, name, plan) values ($1, 'o', 'o', 'free')`, [
      organizationId,
    ]);
    await database.pool.query(
      `insert into destinations (id, organization_id, name, slug, type, url, method, headers, auth_type, timeout_ms, retry_policy,
         enabled, version, max_concurrency, created_at, updated_at)
       values ($1, $2, 'd', 'd', 'http', 'http://d.example/', 'POST', '{}', 'none', 1000, '{}', true, 1, 30, now(), now())`,
      [destinationId, organizationId],
    );
  });
  after(() => database?.close());

  const note = (worker: string, places: number | null) =>
    noteConcurrency(database.pool, worker, [{ destinationId, places }]);

  it('says how many workers are alive, and gives each a place in their order', async () => {
    const { pool } = database;
    expect(await workerShare(pool, 'b'), 'before it is known').to.deep.equal({ workers: 1, rank: 0, alive: null });
    await pool.query(
      `insert into relay_leases (owner, expires_at) select name || ':0', now() + interval '1 minute' from unnest('{c,a,b}'::text[]) as name`,
    );
    expect(await workerShare(pool, 'b')).to.deep.equal({ workers: 3, rank: 1, alive: 3 });
    await pool.query(`update relay_leases set expires_at = now() - interval '1 second' where owner = 'a:0'`);
    expect(await workerShare(pool, 'b')).to.deep.equal({ workers: 2, rank: 0, alive: 2 });
    await pool.query(`update relay_leases set is_leaving = true where owner = 'c:0'`);
    expect(await workerShare(pool, 'b'), 'one ends').to.deep.equal({ workers: 1, rank: 0, alive: 2 });
    expect(await workerShare(pool, 'd'), 'one begins').to.deep.equal({ workers: 2, rank: 1, alive: null });
  });

  it('adds up what the workers may have under way, as long as they say so', async () => {
    const { pool } = database;
    expect(await concurrencyLimit(pool, destinationId)).to.equal(null);
    expect(await note('a', 7)).to.deep.equal([{ destinationId, maximum: 30, isShared: false }]);
    await note('b', 5);
    await note('b', 6);
    expect(await note('b', null), 'nothing new').to.deep.equal([{ destinationId, maximum: 30, isShared: false }]);
    expect(await concurrencyLimit(pool, destinationId)).to.equal(13);
    expect(await lowConcurrency(pool, 14), 'what one that begins is told').to.deep.equal(
      new Map([[destinationId, 13]]),
    );
    expect(await lowConcurrency(pool, 13)).to.deep.equal(new Map());
    await pool.query(`update destination_concurrency set seen_at = now() - interval '3 minutes' where worker = 'a'`);
    expect(await concurrencyLimit(pool, destinationId)).to.equal(6);
    expect(await lowConcurrency(pool, 14)).to.deep.equal(new Map([[destinationId, 6]]));
    await forgetConcurrency(pool);
    expect((await pool.query('select from destination_concurrency')).rowCount).to.equal(1);
  });

  it('knows nothing of a destination that was deleted meanwhile', async () => {
    const gone = newId('dst');
    expect(await noteConcurrency(database.pool, 'a', [{ destinationId: gone, places: 4 }])).to.deep.equal([]);
    expect(await concurrencyLimit(database.pool, gone)).to.equal(null);
  });
});
