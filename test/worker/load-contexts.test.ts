// Loading what attempts need, in groups: what PostgreSQL refuses of one delivery is not laid on the others of its group.
import { expect } from 'chai';
import { createContextLoader } from '../../activities/attempt/results.ts';
import { isRefusedValue } from '../../db/database-errors.ts';
import { createPool, type Pool } from '../../db/pool.ts';
import { type HistoryDatabase, historyDatabase, makeOwner, storeEvent } from '../support/history.ts';

const ROLE = 'hookyard_test_reader';

describe('loading deliveries of which PostgreSQL refuses one', () => {
  let database: HistoryDatabase;
  let pool: Pool;
  before(async () => {
    database = await historyDatabase(1);
    await database.pool.query(`create role ${ROLE}; grant select on all tables in schema public to ${ROLE}`);
    const url = new URL(database.databaseUrl);
    url.searchParams.set('options', `-c role=${ROLE}`);
    pool = createPool(url.href, { max: 2, statementTimeoutMs: 10_000, onError: () => {} });
  });
  after(async () => {
    await pool.end();
    await database.pool.query(`drop owned by ${ROLE}; drop role ${ROLE}`);
    await database.close();
  });

  it('gives the others what they need', async () => {
    const owner = await makeOwner(database.pool, 1, 1);
    const [route] = owner.routes;
    if (!route) throw new Error('a route was asked for');
    const stored = await Promise.all(
      Array.from({ length: 5 }, () =>
        storeEvent(database.pool, owner, route, { receivedAt: new Date(), statuses: ['pending'] }),
      ),
    );
    const requests = stored.map(({ id, deliveries }) => ({
      deliveryId: deliveries[0]?.id ?? '',
      eventId: id,
      attempt: 1,
      retryDelay: null,
    }));
    // Reading this row divides by zero (SQLSTATE 22012).
    await database.pool.query(
      `alter table deliveries enable row level security;
       create policy trap on deliveries using (case when id = '${requests[2]?.deliveryId}' then 1 / (length(id) - length(id)) = 0 else true end)`,
    );
    const loader = createContextLoader(pool);
    const loaded = await Promise.allSettled(requests.map((request) => loader.submit(request)));
    expect(loaded.map(({ status }) => status)).to.deep.equal([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    for (const [index, result] of loaded.entries()) {
      if (result.status === 'fulfilled') expect(result.value?.deliveryId).to.equal(requests[index]?.deliveryId);
      else expect(isRefusedValue(result.reason)).to.equal(true);
    }
  });
});
