// The order in which files of a warehouse are frozen and written, in a separate database: a loader that has seen a file
// never misses one that was written later, whatever clocks say and anyone who commits first.
import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { isWrittenCursor, listWrittenBatches } from '../../db/history/warehouse-batches.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { beginUpload, inOrder, noteUploaded } from '../../db/warehouse/batches.ts';
import { freezeBatch } from '../../db/warehouse/freeze.ts';
import { type HistoryDatabase, historyDatabase } from '../support/database/history.ts';
import { until } from '../support/until.ts';
import { execute, selectRows } from '../support/database/sql.ts';

const HOUR_MS = 3_600_000;
const EVER = new Date(0);

describe('the order of files in PostgreSQL', () => {
  let database: HistoryDatabase;
  let pool: Pool;
  before(async () => {
    database = await historyDatabase(1);
    ({ pool } = database);
  });
  after(() => database?.close());

  const line = () => ({ organizationId: newId('org'), destinationId: newId('dst_wh') });
  type Line = ReturnType<typeof line>;

  const freeze = (key: Line) =>
    freezeBatch(pool, {
      ...key,
      id: newId('bat'),
      partition: 'date=2026-11-21',
      keyOrder: 'written',
      keyAt: (frozenAt) => frozenAt.toISOString(),
      fileFormat: 'jsonl',
      compression: 'gzip',
      payloadColumn: 'text',
      fieldMapping: null,
      waitingSince: new Date(),
      bytes: 10,
      members: [],
    });

  async function begun(key: Line) {
    const { id: batchId } = await freeze(key);
    const batch = await beginUpload(pool, { ...key, batchId });
    if (!batch) throw new Error('the upload was refused');
    return batch;
  }

  const received = { firstReceivedAt: new Date(1_790_000_000_000), lastReceivedAt: new Date(1_790_000_000_001) };
  const file = { events: 1, bytes: 5, conversions: [], sha256: 'ab', latency: 7, ...received };

  async function written(key: Line) {
    const batch = await begun(key);
    expect(await noteUploaded(pool, batch, file)).to.equal(true);
    return batch;
  }

  /** What a loader finds, in parts. */
  async function load(key: Line, writtenAfter = EVER, limit = 2) {
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
  const shift = (key: Line, ms: number) =>
    execute(pool)`update warehouse_batches
      set frozen_at = frozen_at + ${ms}::int * interval '1 ms', uploaded_at = uploaded_at + ${ms}::int * interval '1 ms'
      where destination_id = ${key.destinationId}`;

  it('is that of writing, and tells what a file holds', async () => {
    const key = line();
    const batches = [await written(key), await written(key), await written(key)];
    await written({ ...line(), organizationId: key.organizationId });
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
    const key = line();
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
    const key = line();
    const late = await begun(key);
    let release = () => {};
    let began = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const isHeld = new Promise<void>((resolve) => {
      began = resolve;
    });
    // Another worker has its time, and is slow to commit.
    const slow = inOrder(pool, key, 'written', async (db, time) => {
      await execute(db)`
        insert into warehouse_batches (id, organization_id, destination_id, status, partition, key, events, bytes,
        frozen_at, uploaded_at)
        values (${newId('bat')}, ${key.organizationId}, ${key.destinationId}, 'written', '', '', 1, 1, now(), ${time})`;
      began();
      await held;
      return time;
    });
    await isHeld;
    const noted = noteUploaded(pool, late, file);
    try {
      await until('the later one to wait', async () => {
        const rows = await selectRows(pool)`select 1 from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`;
        return rows.length === 1;
      });
      expect(await load(key), 'neither is there yet').to.deep.equal([]);
    } finally {
      release();
    }
    const time = await slow;
    expect(await noted).to.equal(true);
    const found = await load(key);
    expect(found.map(({ uploadedAt }) => Number(uploadedAt) > time.getTime())).to.deep.equal([false, true]);
    expect(found[1]?.id).to.equal(late.id);
  });
});
