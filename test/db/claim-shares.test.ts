// Claims of many relays: each reads what it takes, not what waits for the others.
import { expect } from 'chai';
import pg from 'pg';
import { ALPHABET, newId } from '../../core/ids.ts';
import { isAmong, positionOf } from '../../core/positions.ts';
import { type Claim, claimDeliveries, claimStatement, type OutboxRow } from '../../db/hot-path/claim.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import type { Held } from '../../worker/shards.ts';
import { type OwnDatabase, ownDatabase } from '../support/own-database.ts';
import { aloneRelay, shareOut } from '../support/relays.ts';

const RELAYS = 50;
// With a number of their own they print what they read.
const { CLAIM_WAITING } = process.env;
const WAITING = Number(CLAIM_WAITING ?? 200_000);
const DESTINATIONS = 2000;
const MOST = 100;

describe('claims of many relays @turns', function () {
  this.timeout(600_000);
  let database: OwnDatabase;
  let hotPool: Pool;
  before(async () => {
    database = await ownDatabase('shares');
    await database.pool.query('alter table outbox set (autovacuum_enabled = off)');
    hotPool = hot();
  });
  after(async () => {
    await hotPool.end();
    await database.close();
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

  // The last three characters of an id decide over its position, as in core/ids.ts.
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
    await database.pool.query('truncate outbox');
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
        expect(isAmong(held.positions, positionOf(row.deliveryId))).to.equal(true);
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

  it('are what one relay alone would claim of its positions', async () => {
    await database.pool.query('truncate outbox');
    await add(3000, 20);
    const all = await aloneRelay(database.pool, 'alone');
    const few = { owner: 'alone', positions: [{ from: 1000, to: 1041 }] };
    const most = { mostOfOthers: 10_000, perDestination: 5000, most: 10_000 };
    const expected = (await claimDeliveries(hotPool, claimOf(all, most))).rows.filter(({ deliveryId }) =>
      isAmong(few.positions, positionOf(deliveryId)),
    );
    expect((await claimDeliveries(hotPool, claimOf(few, most))).rows).to.deep.equal(expected);
    expect(expected).to.have.length.greaterThan(20);
  });

  it('leave out what another relay has in flight since it gave its position up', async () => {
    await database.pool.query('truncate outbox');
    await add(100, 1);
    const held = await aloneRelay(database.pool, 'alone');
    const { rows } = await claimDeliveries(hotPool, claimOf(held));
    await database.pool.query(
      `insert into relay_leases (owner, expires_at) values ('other', now() + interval '1 hour')`,
    );
    const left = rows.slice(0, 3).map(({ deliveryId }) => deliveryId);
    await database.pool.query(`insert into relay_leftovers select id, 'other' from unnest($1::text[]) id`, [left]);
    const without = (await claimDeliveries(hotPool, claimOf(held))).rows.map(({ deliveryId }) => deliveryId);
    expect(without).to.deep.equal(rows.slice(3).map(({ deliveryId }) => deliveryId));
    await database.pool.query(`delete from relay_leases where owner = 'other'`);
    expect((await claimDeliveries(hotPool, claimOf(held))).rows).to.deep.equal(rows);
  });

  describe(`with ${WAITING} rows waiting`, () => {
    let relays: Held[];
    before(async () => {
      relays = await shareOut(
        database.pool,
        Array.from({ length: RELAYS }, () => newId('req')),
      );
      await database.pool.query('truncate outbox');
      // Planned while nothing waits, as by a worker that has just started.
      for (const held of relays.slice(0, 2)) await claimDeliveries(hotPool, claimOf(held));
    });

    for (const [what, destinations, pagesOfARow] of [
      // For each row: itself, one or two of other relays, its circuit, pages of the index.
      ['few destinations', 10, 12],
      // Each destination has two rows for a relay: in addition some looks for the next one, down the whole index.
      ['many destinations', DESTINATIONS, 30],
    ] as const) {
      it(`read as many pages as they take rows, for ${what}`, async () => {
        await database.pool.query('truncate outbox');
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
            expect(pages, `planned ${planned}`).to.be.lessThan(pagesOfARow * MOST);
            await pool.query(claimStatement(claimOf(held), false));
            const fromAll = await pagesOf(pool, claimOf(held), false);
            if (CLAIM_WAITING !== undefined)
              console.log(
                `      ${what}, planned ${planned}: ${pages} pages for ${MOST} rows, ${fromAll} without buckets`,
              );
            expect(fromAll).to.be.greaterThan(3 * pages);
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
  async function pagesOf(pool: Pool, claim: Claim, isFromBuckets?: boolean): Promise<number> {
    const { name, values } = claimStatement(claim, isFromBuckets);
    const { rows } = await pool.query<Explained>(
      `explain (analyze, buffers, format json) execute ${pg.escapeIdentifier(name)} (${values.map(literal).join(', ')})`,
    );
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
    return (plan?.['Shared Hit Blocks'] ?? Number.NaN) + (plan?.['Shared Read Blocks'] ?? Number.NaN);
  }

  const literal = (value: unknown): string =>
    pg.escapeLiteral(Array.isArray(value) ? `{${value.map((each) => `"${each}"`).join(',')}}` : String(value));
});
