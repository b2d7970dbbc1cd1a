import { expect } from 'chai';
import { ALPHABET, newId, shardOf } from '../../core/text/ids.ts';
import { createPool, inTransaction, type Queryable } from '../../db/connections/pool.ts';
import { type Claim, claimDeliveries, type OutboxRow } from '../../db/hot-path/claim.ts';
import type { Held } from '../../worker/relay/shards.ts';
import { emptyOutbox } from '../support/rows.ts';
import { useDatabase, usePool } from '../support/use-hookyard.ts';
import { addWorkers, aloneRelay, shareOut } from '../support/workflows/relays.ts';
import { execute, selectValue } from '../support/database/sql.ts';

const RELAYS = 50;
const MOST = 100;
const WAITING = 3000;
const CLAIMED = 10;

describe('claims', function () {
  this.timeout(600_000);
  const { database } = useDatabase('claims');
  const hot = { max: 1, statementTimeoutMs: 60_000, hotPath: true };
  const hotPool = usePool(database, hot);
  // What is to be shown with a vacuum must not be shown by one that comes by chance.
  before(() => database.pool.query('alter table outbox set (autovacuum_enabled = off)'));
  beforeEach(() => emptyOutbox(database.pool));

  const claimOf = (held: Held, given: Partial<Claim> = {}): Claim => ({
    ...{ afterOrganization: '', skippedOrganizations: [], maxOrganizations: 50, turns: [], mostOfOthers: 2 * MOST },
    ...{ fullDestinations: [], maxDestinations: 200, inFlight: [], perDestination: MOST, most: MOST },
    ...held,
    ...given,
  });

  /**
   * So many deliveries, spread over destinations, which are those of seven organizations. The last three characters of
   * an id decide over its shard, as in core/text/ids.ts.
   */
  const add = (count: number, destinations: number) =>
    execute(database.pool)`
      insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority, shard)
      select 'dlv_' || lpad(n::text, 23, '0') || substr(${ALPHABET}::text, (r >> 10) + 1, 1)
             || substr(${ALPHABET}::text, (r >> 5 & 31) + 1, 1) || substr(${ALPHABET}::text, (r & 31) + 1, 1),
             'dst_' || lpad((n % ${destinations}::int)::text, 6, '0'), 'org_' || n % ${destinations}::int % 7, 'evt_1', 'src_1',
             'rte_1', n % 3, r & 63
      from (select n, hashint8(n) & 32767 as r from generate_series(1, ${count}::bigint) n) made`;

  const destinationIds = [newId('dst'), newId('dst')].toSorted();
  const addWaiting = (from: number, to: number) =>
    execute(database.pool)`
      insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority, shard)
      select 'dlv_' || lpad(n::text, 26, '0'), d, 'org_1', 'evt_1', 'src_1', 'rte_1', n % 2, n % 64
      from unnest(${destinationIds}::text[]) d, generate_series(${from}::int, ${to}::int) n`;

  /** Rows of the outbox that this connection has read. They are counted before they are reported elsewhere. */
  const rowsRead = (db: Queryable) =>
    selectValue<number>(db)`select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as count
      from pg_stat_xact_user_tables where relname = 'outbox'`;

  for (const known of [0, 600]) {
    it(`read no more for a long backlog, although ${known} were waiting when it was planned`, async () => {
      const held = await aloneRelay(database.pool, newId('req'));
      const pool = createPool(database.databaseUrl, { ...hot, onError: () => {} });
      const claim = (inFlight: string[] = []) =>
        inTransaction(pool, async (db) => {
          const before = await rowsRead(db);
          const given = { mostOfOthers: 100, maxDestinations: 100, inFlight, perDestination: CLAIMED };
          const { rows } = await claimDeliveries(db, claimOf(held, given));
          return { rows, read: (await rowsRead(db)) - before };
        });
      try {
        await addWaiting(1, known);
        await claim();
        await addWaiting(known + 1, WAITING);

        const first = await claim();
        // The most urgent first, then the oldest: the odd numbers have the higher priority.
        const ids = Array.from({ length: CLAIMED }, (_, n) => `dlv_${String(2 * n + 1).padStart(26, '0')}`);
        expect(first.rows.map(({ destinationId, deliveryId }) => [destinationId, deliveryId])).to.deep.equal(
          destinationIds.flatMap((destinationId) => ids.map((deliveryId) => [destinationId, deliveryId])),
        );
        // Beside the rows themselves one look for each destination, and one that finds no other.
        expect(first.read).to.be.within(2 * CLAIMED, 2 * CLAIMED + 3);
        const second = await claim(ids);
        expect(second.rows).to.have.length(2 * CLAIMED);
        expect(second.read).to.be.within(4 * CLAIMED, 4 * CLAIMED + 3);
      } finally {
        await pool.end();
      }
    });
  }

  it('of many relays find each delivery once, in the order of its destination', async () => {
    await add(3000, 20);
    const claimed = new Map<string, OutboxRow>();
    const owners = Array.from({ length: RELAYS }, () => newId('req'));
    for (const held of await shareOut(database.pool, owners)) {
      const claim = claimOf(held, { mostOfOthers: 1000, perDestination: 500, most: 1000 });
      const { rows } = await claimDeliveries(hotPool, claim);
      for (const row of rows) {
        expect(held.shards).to.include(shardOf(row.deliveryId));
        expect(claimed.has(row.deliveryId)).to.equal(false);
        claimed.set(row.deliveryId, row);
      }
      for (const [, ofOne] of Map.groupBy(rows, (row) => row.destinationId)) {
        expect(ofOne).to.deep.equal(
          ofOne.toSorted((a, b) => b.priority - a.priority || (a.deliveryId < b.deliveryId ? -1 : 1)),
        );
      }
    }
    expect(claimed.size).to.equal(3000);
  });

  it('find their own behind any number of rows of another relay, whose slots may all be taken', async () => {
    const [idle, busy] = await shareOut(database.pool, ['idle', 'busy']);
    const insert = (id: string, priority: number, shard: number | undefined) =>
      execute(database.pool)`
        insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority,
        shard)
        values (${id}, 'dst_1', 'org_1', 'evt_1', 'src_1', 'rte_1', ${priority}, ${shard})`;
    for (let n = 0; n < 500; n += 1) await insert(newId('dlv'), 10, busy?.shards[n % 32]);
    const own = newId('dlv');
    await insert(own, 0, idle?.shards[0]);
    const { rows } = await claimDeliveries(hotPool, claimOf(idle ?? { owner: 'idle', shards: [] }));
    expect(rows.map(({ deliveryId }) => deliveryId)).to.deep.equal([own]);
  });

  it('leave out what another relay has in flight since it gave its shard up', async () => {
    await add(100, 1);
    const held = await aloneRelay(database.pool, 'alone');
    const { rows } = await claimDeliveries(hotPool, claimOf(held));
    await addWorkers(database.pool, ['other']);
    const left = rows.slice(0, 3).map(({ deliveryId }) => deliveryId);
    await database.pool.query(`update workers set handed_over = $1 where name = 'other'`, [left]);
    const without = (await claimDeliveries(hotPool, claimOf(held))).rows.map(({ deliveryId }) => deliveryId);
    expect(without).to.deep.equal(rows.slice(3).map(({ deliveryId }) => deliveryId));
    await database.pool.query(`delete from workers where name = 'other'`);
    expect((await claimDeliveries(hotPool, claimOf(held))).rows).to.deep.equal(rows);
  });
});
