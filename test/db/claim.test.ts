// What a claim reads: the rows that it returns and those in flight, however many wait.
import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { claimDeliveries } from '../../db/hot-path/claim.ts';
import { createPool, inTransaction, type Pool, type Queryable } from '../../db/connections/pool.ts';
import { aloneRelay } from '../support/workflows/relays.ts';
import type { Held } from '../../worker/relay/shards.ts';
import { useDatabase } from '../support/use-hookyard.ts';
import { execute, selectValue } from '../support/database/sql.ts';

const WAITING = 3000;
const CLAIMED = 10;

describe('a claim', () => {
  const { database } = useDatabase('claim');
  let held: Held;
  const destinationIds = [newId('dst'), newId('dst')].toSorted();
  before(async () => {
    // What is to be shown with a vacuum must not be shown by one that comes by chance.
    await database.pool.query('alter table outbox set (autovacuum_enabled = off)');
    held = await aloneRelay(database.pool, newId('req'));
  });

  const hotPool = () =>
    createPool(database.databaseUrl, { max: 1, statementTimeoutMs: 20_000, onError: () => {}, hotPath: true });

  const addWaiting = (from: number, to: number) =>
    execute(database.pool)`
      insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority, shard)
      select 'dlv_' || lpad(n::text, 26, '0'), d, 'org_1', 'evt_1', 'src_1', 'rte_1', n % 2, n % 64
      from unnest(${destinationIds}::text[]) d, generate_series(${from}::int, ${to}::int) n`;

  /** Rows of the outbox that this connection has read. They are counted before they are reported elsewhere. */
  const rowsRead = (db: Queryable) =>
    selectValue<number>(db)`select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as count
      from pg_stat_xact_user_tables where relname = 'outbox'`;

  const claim = (pool: Pool, inFlight: string[] = []) =>
    inTransaction(pool, async (db) => {
      const before = await rowsRead(db);
      const { rows } = await claimDeliveries(db, {
        afterOrganization: '',
        skippedOrganizations: [],
        maxOrganizations: 50,
        turns: [],
        mostOfOthers: 100,
        fullDestinations: [],
        maxDestinations: 100,
        ...held,
        inFlight,
        perDestination: CLAIMED,
        most: 100,
      });
      return { rows, read: (await rowsRead(db)) - before };
    });

  for (const known of [0, 600]) {
    it(`reads no more for a long backlog, although ${known} were waiting when it was planned`, async () => {
      await database.pool.query('truncate outbox');
      const pool = hotPool();
      try {
        await addWaiting(1, known);
        await claim(pool);
        await addWaiting(known + 1, WAITING);

        const first = await claim(pool);
        // The most urgent first, then the oldest: the odd numbers have the higher priority.
        const ids = Array.from({ length: CLAIMED }, (_, n) => `dlv_${String(2 * n + 1).padStart(26, '0')}`);
        expect(first.rows.map(({ destinationId, deliveryId }) => [destinationId, deliveryId])).to.deep.equal(
          destinationIds.flatMap((destinationId) => ids.map((deliveryId) => [destinationId, deliveryId])),
        );
        // Beside the rows themselves one look for each destination, and one that finds no other.
        expect(first.read).to.be.within(2 * CLAIMED, 2 * CLAIMED + 3);
        const second = await claim(pool, ids);
        expect(second.rows).to.have.length(2 * CLAIMED);
        expect(second.read).to.be.within(4 * CLAIMED, 4 * CLAIMED + 3);
      } finally {
        await pool.end();
      }
    });
  }
});
