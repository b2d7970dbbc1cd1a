// Claims of many relays: each takes its own, and all is found once.
import { expect } from 'chai';
import { ALPHABET, newId, shardOf } from '../../core/text/ids.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { type Claim, claimDeliveries, type OutboxRow } from '../../db/hot-path/claim.ts';
import type { Held } from '../../worker/relay/shards.ts';
import { emptyOutbox } from '../support/rows.ts';
import { useDatabase } from '../support/use-hookyard.ts';
import { addWorkers, aloneRelay, shareOut } from '../support/workflows/relays.ts';
import { execute } from '../support/database/sql.ts';

const RELAYS = 50;
const MOST = 100;

describe('claims of many relays', function () {
  this.timeout(600_000);
  const { database } = useDatabase('shares');
  let hotPool: Pool;
  before(async () => {
    await database.pool.query('alter table outbox set (autovacuum_enabled = off)');
    hotPool = hot();
  });
  after(async () => {
    await hotPool.end();
  });

  const hot = () =>
    createPool(database.databaseUrl, { max: 1, statementTimeoutMs: 60_000, onError: () => {}, hotPath: true });

  const claimOf = (held: Held, given: Partial<Claim> = {}): Claim => ({
    afterOrganization: '',
    skippedOrganizations: [],
    maxOrganizations: 50,
    turns: [],
    mostOfOthers: 2 * MOST,
    fullDestinations: [],
    maxDestinations: 200,
    ...held,
    inFlight: [],
    perDestination: MOST,
    most: MOST,
    ...given,
  });

  // The last three characters of an id decide over its shard, as in core/text/ids.ts.
  const ADD = `
    insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority, shard)
    select 'dlv_' || lpad(n::text, 23, '0') || substr($1, (r >> 10) + 1, 1) || substr($1, (r >> 5 & 31) + 1, 1) || substr($1, (r & 31) + 1, 1),
           $2 || lpad((n % $4)::text, 6, '0'), 'org_' || n % $4 % 7, 'evt_1', 'src_1', 'rte_1', n % 3, r & 63
    from (select n, hashint8(n) & 32767 as r from generate_series(1, $3::bigint) n) made`;
  /** So many deliveries, spread over destinations, which are those of seven organizations. */
  async function add(count: number, destinations: number): Promise<void> {
    const pool = createPool(database.databaseUrl, { max: 1, statementTimeoutMs: 300_000, onError: () => {} });
    await pool.query(ADD, [ALPHABET, 'dst_', count, destinations]).finally(() => pool.end());
  }

  it('find each delivery once, in the order of its destination', async () => {
    await emptyOutbox(database.pool);
    await add(3000, 20);
    const claimed = new Map<string, OutboxRow>();
    for (const held of await shareOut(
      database.pool,
      Array.from({ length: RELAYS }, () => newId('req')),
    )) {
      const { rows } = await claimDeliveries(
        hotPool,
        claimOf(held, { mostOfOthers: 1000, perDestination: 500, most: 1000 }),
      );
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
    await emptyOutbox(database.pool);
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
    await emptyOutbox(database.pool);
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
