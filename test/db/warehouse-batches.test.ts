import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { inTransaction } from '../../db/connections/pool.ts';
import { isWrittenCursor, listWrittenBatches } from '../../db/history/warehouse-batches.ts';
import {
  beginUpload,
  endBatch,
  findBatch,
  inOrder,
  noteUploaded,
  waitingDeliveries,
} from '../../db/warehouse/batches.ts';
import { halveBatch } from '../../db/warehouse/freeze.ts';
import { claimFlushes, countGains, endFlush, noteFilling, takeSnapshot } from '../../db/warehouse/flushes.ts';
import { batchContent } from '../../db/warehouse/members.ts';
import { type HistoryOwner, storeEvent } from '../support/database/history.ts';
import { useHistoryDatabase } from '../support/use-hookyard.ts';
import { removeDestination } from '../support/rows.ts';
import { until } from '../support/until.ts';
import { freeze, insertDestination, insertRoute } from './fixtures.ts';
import { execute, selectRows } from '../support/database/sql.ts';

const HOUR_MS = 3_600_000;
const EVER = new Date(0);
const PARTITION = 'date=2026-11-21';

describe('warehouse batches in PostgreSQL', () => {
  const { pool } = useHistoryDatabase(1);
  let organizationId: string;
  before(async () => {
    organizationId = newId('org');
    await pool.query(`insert into organizations (id, slug, name, plan) values ($1, $1, $1, 'pro')`, [organizationId]);
  });

  interface Line {
    key: { organizationId: string; destinationId: string };
    route: HistoryOwner['routes'][number];
  }

  async function line(): Promise<Line> {
    const [sourceId, destinationId] = [newId('src'), newId('dst_wh')];
    await execute(pool)`insert into sources (id, organization_id, name, slug)
      values (${sourceId}, ${organizationId}, ${sourceId}, ${sourceId})`;
    await insertDestination(pool, organizationId, { id: destinationId, type: 's3', url: '' });
    const id = await insertRoute(pool, { organizationId, sourceId }, [destinationId]);
    return {
      key: { organizationId, destinationId },
      route: { id, sourceId, destinationIds: [destinationId], failoverId: '' },
    };
  }

  async function store(
    { route }: Line,
    count: number,
    body = '{}',
  ): Promise<{ eventId: string; deliveryId: string }[]> {
    const stored = [];
    const firstAt = Date.now() - count;
    for (let n = 0; n < count; n += 1) {
      const owner = { organizationId, routes: [route] };
      // Each in a millisecond of its own: within one, the order is left to chance.
      const receivedAt = new Date(firstAt + n);
      const event = await storeEvent(pool, owner, route, { receivedAt, statuses: ['pending'], body });
      stored.push({ eventId: event.id, deliveryId: event.deliveries[0]?.id ?? '' });
    }
    return stored;
  }

  const freezeAll = async ({ key }: Line) =>
    freeze(pool, { ...key, members: await waitingDeliveries(pool, key, 1000) });

  const due = async () =>
    (await claimFlushes(pool, 100)).map(({ destinationId, hasNews }) => ({ destinationId, hasNews }));
  const expire = ({ key }: Line) =>
    execute(pool)`update warehouse_flushes set due_at = now() - interval '1 second'
      where destination_id = ${key.destinationId}`;

  it('are told of once when something begins to wait, again when nobody looks after it, and when the record changes', async () => {
    const { key, ...rest } = await line();
    const warehouse = { key, ...rest };
    const { destinationId } = key;
    expect(await due()).to.deep.equal([]);
    await store(warehouse, 2);
    expect(await due()).to.deep.equal([{ destinationId, hasNews: true }]);
    expect(await due()).to.deep.equal([]);
    await expire(warehouse);
    expect(await due(), 'has only to be there').to.deep.equal([{ destinationId, hasNews: false }]);
    await pool.query('update destinations set version = version + 1 where id = $1', [destinationId]);
    expect(await due()).to.deep.equal([{ destinationId, hasNews: true }]);
    expect(await due()).to.deep.equal([]);
    await freezeAll(warehouse);
    await removeDestination(pool, destinationId);
    expect(await due(), 'also of a destination that was deleted').to.deep.equal([{ destinationId, hasNews: true }]);
    expect(await due()).to.deep.equal([]);
    await endFlush(pool, key);
    expect(await due()).to.deep.equal([]);
  });

  /** The destinations of which a batch may be full, a second after the last count. */
  async function counted(): Promise<string[]> {
    await pool.query(`update warehouse_flushes set counted_at = now() - interval '1 minute'`);
    return (await countGains(pool)).map((flush) => flush.destinationId);
  }
  /** A look that finds one delivery. */
  const fill = async ({ key }: Line, neededEvents: number, neededBytes: number) =>
    noteFilling(pool, key, {
      batches: [{ partition: PARTITION, events: 1, bytes: 2 }],
      snapshot: await takeSnapshot(pool),
      neededEvents,
      neededBytes,
    });

  it('are told of also by what was made before the look, and before another one, and committed after both', async () => {
    const warehouse = await line();
    const { destinationId } = warehouse.key;
    const [first] = await store(warehouse, 1);
    await due();
    for (const needed of [1, 2]) {
      await inTransaction(pool, async (db) => {
        // Given its id long before.
        await db.query(
          `insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority, shard)
           values ($1, $2, $3, $4, $5, $6, 0, 0)`,
          [
            ...[newId('dlv', Date.now() - 60_000), destinationId, organizationId],
            ...[first?.eventId, warehouse.route.sourceId, warehouse.route.id],
          ],
        );
        if (needed === 1) await store(warehouse, 1);
        await fill(warehouse, needed, 1_000_000);
        if (needed === 2) await store(warehouse, 1);
        expect(await counted(), 'it is not committed yet').to.deep.equal([]);
      });
      expect(await counted()).to.deep.equal([destinationId]);
    }
    await pool.query('delete from outbox where destination_id = $1', [destinationId]);
    await endFlush(pool, warehouse.key);
  });

  it('take each delivery once, and only one is under way', async () => {
    const warehouse = await line();
    const stored = await store(warehouse, 3);
    const batch = await freezeAll(warehouse);
    expect(batch).to.include({ status: 'frozen', events: 3, attempts: 0 });
    // Received in the same ms, they are in the order of their ids.
    expect((await batchContent(pool, batch)).map(({ deliveryId }) => deliveryId)).to.have.members(
      stored.map(({ deliveryId }) => deliveryId),
    );
    expect(await waitingDeliveries(pool, warehouse.key, 10)).to.deep.equal([]);
    await store(warehouse, 1);
    const error = await freezeAll(warehouse).catch((failure: unknown) => failure);
    expect(String(error)).to.include('warehouse_batches_under_way');
    expect(await waitingDeliveries(pool, warehouse.key, 10), 'nothing was changed').to.have.lengthOf(1);
    await endBatch(pool, batch.id, 'written');
    expect(await freezeAll(warehouse)).to.include({ events: 1 });
    await endFlush(pool, warehouse.key);
  });

  it('give half of their deliveries to a batch of its own, all at once, when the latest upload says so', async () => {
    const warehouse = await line();
    const deliveryIds = (await store(warehouse, 4)).map(({ deliveryId }) => deliveryId);
    const { organizationId } = warehouse.key;
    const { id: batchId } = await freezeAll(warehouse);
    const begin = () => beginUpload(pool, { organizationId, batchId });
    const [slow, quick] = [await begin(), await begin()];
    if (!slow || !quick) throw new Error('an upload was refused');
    const id = newId('bat');
    const halves = {
      left: { events: 2, bytes: 4 },
      right: { id, keyAt: () => `${PARTITION}/${id}.jsonl`, bytes: 6, deliveryIds: deliveryIds.slice(2) },
    };
    expect(await halveBatch(pool, slow, halves), 'an upload that was overtaken').to.equal(false);
    expect(await batchContent(pool, quick)).to.have.lengthOf(4);
    expect(await halveBatch(pool, quick, halves)).to.equal(true);
    expect(await halveBatch(pool, quick, halves), 'twice').to.equal(false);
    const [left, right] = await Promise.all(
      [batchId, id].map((each) => findBatch(pool, { organizationId, batchId: each })),
    );
    if (!left || !right) throw new Error('a half is missing');
    expect(left).to.include({ status: 'frozen', events: 2, bytes: 4 });
    expect(right).to.include({ status: 'frozen', events: 2, bytes: 6, attempts: 0 });
    const ids = async (batch: typeof left) => (await batchContent(pool, batch)).map(({ deliveryId }) => deliveryId);
    expect([await ids(left), await ids(right)]).to.deep.equal([deliveryIds.slice(0, 2), deliveryIds.slice(2)]);
    for (const each of [batchId, id]) await endBatch(pool, each, 'written');
    await endFlush(pool, warehouse.key);
  });

  // A loader that has seen a file never misses one that was written later, whatever clocks say and anyone who commits
  // first.
  describe('in their order', () => {
    const keyOf = () => ({ organizationId: newId('org'), destinationId: newId('dst_wh') });
    type Key = ReturnType<typeof keyOf>;

    async function begun(key: Key) {
      const { id: batchId } = await freeze(pool, key);
      const batch = await beginUpload(pool, { ...key, batchId });
      if (!batch) throw new Error('the upload was refused');
      return batch;
    }

    const received = { firstReceivedAt: new Date(1_790_000_000_000), lastReceivedAt: new Date(1_790_000_000_001) };
    const file = { events: 1, bytes: 5, conversions: [], sha256: 'ab', latency: 7, ...received };

    async function written(key: Key) {
      const batch = await begun(key);
      expect(await noteUploaded(pool, batch, file)).to.equal(true);
      return batch;
    }

    /** What a loader finds, in parts. */
    async function load(key: Key, writtenAfter = EVER, limit = 2) {
      const found = [];
      let after: string | null = null;
      do {
        const part = await listWrittenBatches(pool, key, writtenAfter, { limit, after, withTotal: false });
        found.push(...part.batches);
        after = part.next;
        if (after !== null) expect(isWrittenCursor(after), after).to.equal(true);
      } while (after !== null);
      return found;
    }
    const ids = (batches: { id: string }[]) => batches.map(({ id }) => id);
    const shift = (key: Key, ms: number) =>
      execute(pool)`update warehouse_batches
        set frozen_at = frozen_at + ${ms}::int * interval '1 ms', uploaded_at = uploaded_at + ${ms}::int * interval '1 ms'
        where destination_id = ${key.destinationId}`;

    it('is that of writing, and tells what a file holds', async () => {
      const key = keyOf();
      const batches = [await written(key), await written(key), await written(key)];
      await written({ ...keyOf(), organizationId: key.organizationId });
      const found = await load(key);
      expect(ids(found)).to.deep.equal(ids(batches));
      expect(found[0]).to.deep.include({ ...received, events: 1, bytes: 5, fileFormat: 'jsonl', compression: 'gzip' });
      expect(ids(await load({ ...key, organizationId: newId('org') })), 'of another organization').to.deep.equal([]);
      const first = found[0]?.uploadedAt ?? EVER;
      expect(ids(await load(key, first))).to.deep.equal(ids(batches.slice(1)));
      expect(ids(await load(key, found.at(-1)?.uploadedAt ?? EVER))).to.deep.equal([]);
      const page = await listWrittenBatches(pool, key, first, { limit: 1, offset: 1 });
      expect([page.total, ids(page.batches)]).to.deep.equal([2, ids(batches.slice(2))]);
    });

    it('stands when the clock is set back', async () => {
      const key = keyOf();
      const before = await written(key);
      await shift(key, HOUR_MS);
      const after = await written(key);
      const [first, second] = await load(key);
      expect([first?.id, second?.id]).to.deep.equal([before.id, after.id]);
      expect(Number(second?.uploadedAt) - Number(first?.uploadedAt)).to.equal(1);
      expect(after.frozenAt.getTime()).to.be.greaterThan(before.frozenAt.getTime() + HOUR_MS);
      expect(after.key, 'the key has that time').to.equal(after.frozenAt.toISOString());
    });

    it('is not overtaken by who commits first', async () => {
      const key = keyOf();
      const late = await begun(key);
      const [began, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      // Another worker has its time, and is slow to commit.
      const slow = inOrder(pool, key, 'written', async (db, time) => {
        await execute(db)`
          insert into warehouse_batches (id, organization_id, destination_id, status, partition, key, events, bytes,
          frozen_at, uploaded_at)
          values (${newId('bat')}, ${key.organizationId}, ${key.destinationId}, 'written', '', '', 1, 1, now(), ${time})`;
        began.resolve();
        await held.promise;
        return time;
      });
      await began.promise;
      const noted = noteUploaded(pool, late, file);
      try {
        await until('the later one to wait', async () => {
          const rows = await selectRows(pool)`select 1 from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())`;
          return rows.length === 1;
        });
        expect(await load(key), 'neither is there yet').to.deep.equal([]);
      } finally {
        held.resolve();
      }
      const time = await slow;
      expect(await noted).to.equal(true);
      const found = await load(key);
      expect(found.map(({ uploadedAt }) => Number(uploadedAt) > time.getTime())).to.deep.equal([false, true]);
      expect(found[1]?.id).to.equal(late.id);
    });
  });
});
