// Rows leave the outbox and the held deliveries by their keys: what else waits is not read, also by a statement that
// was planned while nothing waited.
import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { inTransaction, type Queryable } from '../../db/connections/pool.ts';
import { cancelDeliveries, DESTINATION_DELETED } from '../../db/delivery/delivery-commands.ts';
import { noLongerWaiting } from '../../db/sql/rules.ts';
import { recordResults } from '../../db/hot-path/record-results.ts';
import {
  attemptResult,
  type HistoryOwner,
  makeOwner,
  type StoredEvent,
  storeEvent,
  firstRoute,
} from '../support/database/history.ts';
import { useHistoryDatabase, usePool } from '../support/use-hookyard.ts';
import { emptyOutbox } from '../support/rows.ts';

const WAITING = 3000;
const GROUP = 20;

describe('deliveries that wait no longer', () => {
  const { database } = useHistoryDatabase(1);
  const hotPool = usePool(database, { max: 1, hotPath: true });
  const oncePool = usePool(database, { max: 1 });
  let owner: HistoryOwner;
  before(async () => {
    const { pool } = database;
    // What it knows of an empty outbox must not be corrected by chance.
    for (const table of ['outbox', 'held_deliveries'])
      await pool.query(`alter table ${table} set (autovacuum_enabled = off)`);
    await oncePool.query('set plan_cache_mode = force_generic_plan');
    owner = await makeOwner(pool, 1, 1);
  });

  const store = async (count: number): Promise<StoredEvent[]> => {
    const route = firstRoute(owner);
    const events: StoredEvent[] = [];
    for (let n = 0; n < count; n += 1)
      events.push(await storeEvent(database.pool, owner, route, { receivedAt: new Date(), statuses: ['pending'] }));
    return events;
  };

  const fill = {
    outbox: () =>
      database.pool.query(
        `insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority, shard)
         select 'dlv_' || lpad(n::text, 26, '0'), 'dst_' || n % 5, $1, 'evt_1', 'src_1', 'rte_1', 0, n % 64
         from generate_series(1, $2::int) n`,
        [owner.organizationId, WAITING],
      ),
    held_deliveries: () =>
      database.pool.query(
        `insert into held_deliveries (route_id, delivery_id, organization_id, event_id, source_id, destination_id, priority, shard,
                                      has_workflow)
         select $3, 'dlv_' || lpad(n::text, 26, '0'), $1, 'evt_1', 'src_1', 'dst_' || n % 5, 0, n % 64, false
         from generate_series(1, $2::int) n`,
        [owner.organizationId, WAITING, owner.routes[0]?.id],
      ),
  };
  type Table = keyof typeof fill;

  const rowsRead = async (db: Queryable, table: Table): Promise<number> => {
    const { rows } = await db.query<{ count: number }>(
      `select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_read, 0))::int as count
       from pg_stat_xact_user_tables t cross join lateral (
         select sum(pg_stat_get_xact_tuples_returned(indexrelid)) as idx_tup_read from pg_index where indrelid = t.relid
       ) i where relname = $1`,
      [table],
    );
    return rows[0]?.count ?? 0;
  };

  /** Their circuit has opened. */
  const hold = async (events: StoredEvent[]): Promise<StoredEvent[]> => {
    await database.pool.query(
      `with gone as (delete from outbox where event_id = any($1) returning *)
       insert into held_deliveries (route_id, delivery_id, organization_id, event_id, source_id, destination_id, priority, shard,
                                    has_workflow)
       select route_id, delivery_id, organization_id, event_id, source_id, destination_id, priority, shard, false from gone`,
      [events.map(({ id }) => id)],
    );
    return events;
  };

  const record = (db: Queryable, events: StoredEvent[]) =>
    recordResults(
      db,
      events.flatMap((event) =>
        event.deliveries.map((delivery) => attemptResult(event, delivery, { status: 'delivered' })),
      ),
    );
  const cancel = (db: Queryable, events: StoredEvent[]) =>
    cancelDeliveries(db, {
      organizationId: owner.organizationId,
      deliveryIds: events.flatMap(({ deliveries }) => deliveries.map(({ id }) => id)),
      reason: DESTINATION_DELETED,
    });

  // Its estimate of what ends is more than one row, so a join would be by hash.
  const endPlannedOnce = (db: Queryable, events: StoredEvent[]) =>
    db.query({
      name: 'end-planned-once',
      text: `with ended as (
               update deliveries set status = 'cancelled' where destination_id = $1 and event_id = any($2::text[])
               returning id, organization_id, destination_id, route_id, priority
             ), ${noLongerWaiting('ended')}
             select from ended`,
      values: [events[0]?.deliveries[0]?.destinationId, events.map(({ id }) => id)],
    });

  const deeds: [string, Table, (db: Queryable, events: StoredEvent[]) => Promise<unknown>][] = [
    ['results of attempts', 'outbox', record],
    ['a cancellation', 'outbox', cancel],
    ['a cancellation', 'held_deliveries', cancel],
    ['a statement that is planned once', 'held_deliveries', endPlannedOnce],
  ];

  for (const [name, table, deed] of deeds) {
    it(`are removed from ${table} by ${name}, which reads no others`, async () => {
      const group = (count: number) => (table === 'outbox' ? store(count) : store(count).then(hold));
      await database.pool.query(`delete from ${table}`);
      // Empty, and as long as it was: vacuum does not truncate it.
      await fill[table]();
      await database.pool.query(`delete from ${table}`);
      await database.pool.query(`vacuum analyze ${table}`);
      const pool = deed === endPlannedOnce ? oncePool : hotPool;
      // Plans the statement for an empty table.
      await deed(pool, await group(1));
      await fill[table]();
      const events = await group(GROUP);
      await inTransaction(pool, async (db) => {
        const before = await rowsRead(db, table);
        await deed(db, events);
        expect((await rowsRead(db, table)) - before).to.be.within(GROUP, 3 * GROUP);
      });
      const { rows } = await database.pool.query<{ count: number }>(`select count(*)::int as count from ${table}`);
      expect(rows[0]?.count).to.equal(WAITING);
    });
  }

  it('leave the rows of other deliveries of the same event in the outbox', async () => {
    await emptyOutbox(database.pool);
    const [event] = await store(1);
    if (!event) throw new Error('nothing was stored');
    const unknown = { id: newId('dlv'), destinationId: event.deliveries[0]?.destinationId ?? '' };
    await recordResults(hotPool, [attemptResult(event, unknown, { status: 'delivered' })]);
    const { rows } = await database.pool.query<{ id: string }>('select delivery_id as id from outbox');
    expect(rows.map(({ id }) => id)).to.deep.equal(event.deliveries.map(({ id }) => id));
  });
});
