// Claims of many relays: each takes its own, and reads as many rows for each of them as there are relays.
import { expect } from 'chai';
import pg from 'pg';
import { ALPHABET, newId, shardOf } from '../../core/text/ids.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { type Claim, claimDeliveries, claimStatement, type OutboxRow } from '../../db/hot-path/claim.ts';
import { SHARDS } from '../../db/hot-path/shards.ts';
import type { Held } from '../../worker/relay/shards.ts';
import { emptyOutbox } from '../support/rows.ts';
import { useDatabase } from '../support/use-hookyard.ts';
import { addWorkers, aloneRelay, shareOut } from '../support/workflows/relays.ts';

const RELAYS = 50;
// With a number of their own they print what they read.
const { CLAIM_WAITING } = process.env;
const WAITING = Number(CLAIM_WAITING ?? 200_000);
const DESTINATIONS = 2000;
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

  it('are what one relay alone would claim of its shards', async () => {
    await emptyOutbox(database.pool);
    await add(3000, 20);
    const all = await aloneRelay(database.pool, 'alone');
    const few = { owner: 'alone', shards: [7, 40] };
    const most = { mostOfOthers: 10_000, perDestination: 5000, most: 10_000 };
    const expected = (await claimDeliveries(hotPool, claimOf(all, most))).rows.filter(({ deliveryId }) =>
      few.shards.includes(shardOf(deliveryId)),
    );
    expect((await claimDeliveries(hotPool, claimOf(few, most))).rows).to.deep.equal(expected);
    expect(expected).to.have.length.greaterThan(20);
  });

  it('find their own behind any number of rows of another relay, whose slots may all be taken', async () => {
    await emptyOutbox(database.pool);
    const [idle, busy] = await shareOut(database.pool, ['idle', 'busy']);
    const insert = (id: string, priority: number, shard: number | undefined) =>
      database.pool.query(
        `insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority, shard)
         values ($1, 'dst_1', 'org_1', 'evt_1', 'src_1', 'rte_1', $2, $3)`,
        [id, priority, shard],
      );
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

  describe(`with ${WAITING} rows waiting`, () => {
    let relays: Held[];
    before(async () => {
      relays = await shareOut(
        database.pool,
        Array.from({ length: RELAYS }, () => newId('req')),
      );
      await emptyOutbox(database.pool);
      // Planned while nothing waits, as by a worker that has just started.
      for (const held of relays.slice(0, 2)) await claimDeliveries(hotPool, claimOf(held));
    });

    // Some have one shard. A row of another relay is a page of the heap, and at most one of the index.
    const most = 2 * SHARDS * MOST + 1000;
    for (const [what, destinations] of [
      ['few destinations', 10],
      ['many destinations', DESTINATIONS],
    ] as const) {
      it(`read as many rows for each that they take as there are relays, for ${what}`, async () => {
        await emptyOutbox(database.pool);
        await add(WAITING, destinations);
        for (const [planned, pool] of [
          ['on the empty table', hotPool],
          ['on the full one', hot()],
        ] as const) {
          for (const held of [relays[0], relays[17], relays[RELAYS - 1]]) {
            if (!held) continue;
            const { rows } = await claimDeliveries(pool, claimOf(held));
            expect(rows).to.have.length(MOST);
            const pages = await pagesOf(pool, claimOf(held));
            if (CLAIM_WAITING !== undefined)
              console.log(`      ${what}, planned ${planned}: ${pages} pages for ${MOST} rows`);
            expect(pages, `planned ${planned}`).to.be.lessThan(most);
          }
          if (pool !== hotPool) await pool.end();
        }
      });
    }
  });

  interface Explained {
    'QUERY PLAN': { Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }[];
  }

  /** Pages that a claim reads, with the plan that the connection made at first. */
  async function pagesOf(pool: Pool, claim: Claim): Promise<number> {
    const { name, values } = claimStatement(claim);
    const { rows } = await pool.query<Explained>(
      `explain (analyze, buffers, format json) execute ${pg.escapeIdentifier(name)} (${values.map(literal).join(', ')})`,
    );
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
    return (plan?.['Shared Hit Blocks'] ?? Number.NaN) + (plan?.['Shared Read Blocks'] ?? Number.NaN);
  }

  const literal = (value: unknown): string =>
    pg.escapeLiteral(Array.isArray(value) ? `{${value.map((each) => `"${each}"`).join(',')}}` : String(value));
});
