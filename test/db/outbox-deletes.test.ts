// Rows leave the outbox by their keys: what else waits is not read, also by a statement that was planned while nothing waited.
import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { createPool, inTransaction, type Pool, type Queryable } from '../../db/connections/pool.ts';
import { cancelDeliveries, DESTINATION_DELETED } from '../../db/delivery/delivery-commands.ts';
import { recordResults } from '../../db/hot-path/record-results.ts';
import {
  attemptResult,
  type HistoryDatabase,
  type HistoryOwner,
  historyDatabase,
  makeOwner,
  type StoredEvent,
  storeEvent,
} from '../support/history.ts';

const WAITING = 3000;
const GROUP = 20;

describe('the outbox', () => {
  let database: HistoryDatabase;
  let hotPool: Pool;
  let owner: HistoryOwner;
  before(async () => {
    database = await historyDatabase(1);
    const { databaseUrl, pool } = database;
    // What it knows of an empty outbox must not be corrected by chance.
    await pool.query('alter table outbox set (autovacuum_enabled = off)');
    hotPool = createPool(databaseUrl, { max: 1, statementTimeoutMs: 20_000, onError: () => {}, hotPath: true });
    owner = await makeOwner(pool, 1, 1);
  });
  after(async () => {
    await hotPool.end();
    await database.close();
  });

  const store = async (count: number): Promise<StoredEvent[]> => {
    const [route] = owner.routes;
    if (!route) throw new Error('there is no route');
    const events: StoredEvent[] = [];
    for (let n = 0; n < count; n += 1)
      events.push(await storeEvent(database.pool, owner, route, { receivedAt: new Date(), statuses: ['pending'] }));
    return events;
  };

  const fill = () =>
    database.pool.query(
      `insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority, shard)
       select 'dlv_' || lpad(n::text, 26, '0'), 'dst_' || n % 5, $1, 'evt_1', 'src_1', 'rte_1', 0, n % 64
       from generate_series(1, $2::int) n`,
      [owner.organizationId, WAITING],
    );

  const rowsRead = async (db: Queryable): Promise<number> => {
    const { rows } = await db.query<{ count: number }>(
      `select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_read, 0))::int as count
       from pg_stat_xact_user_tables t cross join lateral (
         select sum(pg_stat_get_xact_tuples_returned(indexrelid)) as idx_tup_read from pg_index where indrelid = t.relid
       ) i where relname = 'outbox'`,
    );
    return rows[0]?.count ?? 0;
  };

  type Deed = (db: Queryable, events: StoredEvent[]) => Promise<unknown>;
  const deeds: Record<string, Deed> = {
    'results of attempts': (db, events) =>
      recordResults(
        db,
        events.flatMap((event) =>
          event.deliveries.map((delivery) => attemptResult(event, delivery, { status: 'delivered' })),
        ),
      ),
    'a cancellation': (db, events) =>
      cancelDeliveries(db, {
        organizationId: owner.organizationId,
        deliveryIds: events.flatMap(({ deliveries }) => deliveries.map(({ id }) => id)),
        reason: DESTINATION_DELETED,
      }),
  };

  for (const [name, deed] of Object.entries(deeds)) {
    it(`is not read as a whole by ${name}`, async () => {
      await database.pool.query('delete from outbox');
      // Empty, and as long as it was: vacuum does not truncate it.
      await fill();
      await database.pool.query('delete from outbox');
      await database.pool.query('vacuum analyze outbox');
      // Plans the statement for an empty outbox.
      await deed(hotPool, await store(1));
      await fill();
      const group = await store(GROUP);
      await inTransaction(hotPool, async (db) => {
        const before = await rowsRead(db);
        await deed(db, group);
        expect((await rowsRead(db)) - before).to.be.within(GROUP, 3 * GROUP);
      });
      const { rows } = await database.pool.query<{ count: number }>('select count(*)::int as count from outbox');
      expect(rows[0]?.count).to.equal(WAITING);
    });
  }

  it('keeps the rows of other deliveries of the same event', async () => {
    await database.pool.query('delete from outbox');
    const [event] = await store(1);
    if (!event) throw new Error('nothing was stored');
    const unknown = { id: newId('dlv'), destinationId: event.deliveries[0]?.destinationId ?? '' };
    await recordResults(hotPool, [attemptResult(event, unknown, { status: 'delivered' })]);
    const { rows } = await database.pool.query<{ id: string }>('select delivery_id as id from outbox');
    expect(rows.map(({ id }) => id)).to.deep.equal(event.deliveries.map(({ id }) => id));
  });
});
