import { expect } from 'chai';
import { createEventWriter } from '../../api/ingest/event-writer.ts';
import { newId } from '../../core/text/ids.ts';
import { deleteEvent } from '../../db/delivery/deletions.ts';
import { DAY_MS, dropPartitionsBefore, ensurePartitions } from '../../db/sql/partitions.ts';
import { findFirstEvent, type NewEvent, storeEvents } from '../../db/hot-path/store-events.ts';
import { createPool, type Pool, type Queryable } from '../../db/connections/pool.ts';
import {
  addOwner,
  configVersion,
  type EventOwner,
  keyOf,
  routedEvent,
  storedOf,
  storesWait,
} from '../support/database/new-events.ts';
import { maintainOnce } from '../support/database/housekeeping.ts';
import { until } from '../support/until.ts';
import { useDatabase } from '../support/use-hookyard.ts';
import { execute, selectRows, selectValue } from '../support/database/sql.ts';

const OLD_DAY = Math.floor(Date.now() / DAY_MS) - 9;

describe('a group of events', () => {
  const { database, pool } = useDatabase('store', { connections: 8 });
  const opened: Pool[] = [];
  after(() => Promise.all(opened.map((each) => each.end())));

  /** The pool of an ingest process of its own. */
  const ingestPool = (): Pool => {
    const options = { max: 4, statementTimeoutMs: 20_000, onError: () => {}, hotPath: true };
    const own = createPool(database.databaseUrl, options);
    opened.push(own);
    return own;
  };

  const changeConfiguration = (owner: EventOwner) =>
    pool.query(`update sources set name = name || '!' where id = $1`, [owner.sourceId]);

  describe('routed by configurations of which one has changed', () => {
    it('is stored but for the events of that organization', async () => {
      const [changing, other] = [await addOwner(pool), await addOwner(pool)];
      const [stale, kept] = [await routedEvent(pool, changing), await routedEvent(pool, other)];
      await changeConfiguration(changing);
      const result = await storeEvents(pool, [stale, kept]);
      expect(result).to.deep.equal({ stored: new Set([kept.id]), stale: new Set([stale.id]) });
      expect(await storedOf(pool, other)).to.deep.equal({ ids: [kept.id], counted: 1, queued: 1 });
      expect(await storedOf(pool, changing)).to.deep.equal({ ids: [], counted: 0, queued: 0 });
    });

    it('is stored but for those of its events that were routed before the change', async () => {
      const owner = await addOwner(pool);
      const before = await routedEvent(pool, owner);
      await changeConfiguration(owner);
      const behind = await routedEvent(pool, owner);
      expect(behind.configVersion).to.be.above(before.configVersion);
      // Whatever their order in the group.
      expect(await storeEvents(pool, [before, behind])).to.deep.equal({
        stored: new Set([behind.id]),
        stale: new Set([before.id]),
      });
      expect(await storeEvents(pool, [await routedEvent(pool, owner), before])).to.deep.include({
        stale: new Set([before.id]),
      });
      expect((await storedOf(pool, owner)).ids).to.have.length(2);
    });

    it('is not stored when its organization is gone', async () => {
      const owner = { organizationId: 'org_gone', sourceId: 'src_gone' };
      const event = await routedEvent(pool, owner);
      expect(await configVersion(pool, owner)).to.equal(0);
      expect((await storeEvents(pool, [event])).stale).to.deep.equal(new Set([event.id]));
    });
  });

  it('with the keys of another one in another order waits for it, and neither ends the other', async () => {
    const owner = await addOwner(pool);
    const event = (key: number) => routedEvent(pool, owner, { idempotency: keyOf(key) });
    const [low, firstMiddle, high] = [await event(1), await event(2), await event(4)];
    const [highAgain, otherMiddle, lowAgain] = [await event(4), await event(3), await event(1)];
    // Somebody has a key in the middle of each, until both groups wait.
    const holder = await holdKeys(owner);
    await holder.take(firstMiddle);
    await holder.take(otherMiddle);
    const first = storeEvents(ingestPool(), [low, firstMiddle, high]);
    await storesWait(pool, 1);
    const second = storeEvents(ingestPool(), [highAgain, otherMiddle, lowAgain]);
    const both = Promise.all([first, second]);
    await Promise.race([storesWait(pool, 2), both]);
    await holder.release();
    const [ofFirst, ofSecond] = await both;
    expect(ofFirst.stored).to.deep.equal(new Set([low.id, firstMiddle.id, high.id]));
    expect(ofSecond.stored).to.deep.equal(new Set([otherMiddle.id]));
    expect(await storedOf(pool, owner)).to.include({ counted: 4, queued: 4 });
  });

  it('that takes keys again whose window has passed is not in the way of their removal, nor that of the group', async () => {
    const owner = await addOwner(pool);
    const event = (key: number) => routedEvent(pool, owner, { idempotency: keyOf(key) });
    const [low, middle, high] = [await event(1), await event(2), await event(3)];
    // The removal begins with those that expired first: the order of the group the other way round.
    for (const [index, { idempotency }] of [high, low].entries()) {
      await execute(pool)`insert into idempotency_keys
        values (${owner.sourceId}, ${idempotency?.keyHash}, 'evt_old',
        now() - interval '1 day' + ${index} * interval '1 hour')`;
    }
    const holder = await holdKeys(owner);
    await holder.take(middle);
    const stored = storeEvents(ingestPool(), [low, middle, high]);
    await storesWait(pool, 1);
    const kept = maintainOnce(pool);
    await until('the key that is free to be removed', async () => (await keysOf(owner)) === 1);
    await holder.release();
    expect((await stored).stored).to.have.length(3);
    await kept;
    expect(await keysOf(owner)).to.equal(3);
  });

  for (const [how, remove] of [
    ['is deleted', (owner: EventOwner, id: string) => deleteEvent(pool, owner.organizationId, id)],
    ['is dropped by the retention', () => dropPartitionsBefore(pool, 'events', OLD_DAY + 1)],
  ] as const) {
    it(`that repeats one which ${how} is stored, whatever is left of its key's window`, async () => {
      await ensurePartitions(pool, OLD_DAY * DAY_MS);
      const owner = await addOwner(pool);
      const event = (id = newId('evt')) => routedEvent(pool, owner, { id, idempotency: keyOf(40) });
      const [first, second, third] = [await event(newId('evt', OLD_DAY * DAY_MS)), await event(), await event()];
      await storeEvents(pool, [first]);
      expect((await storeEvents(pool, [second])).stored).to.deep.equal(new Set());
      await remove(owner, first.id);
      expect((await storeEvents(pool, [second])).stored).to.deep.equal(new Set([second.id]));
      expect((await storeEvents(pool, [third])).stored).to.deep.equal(new Set());
    });
  }

  it('that waits for an event with its key to be committed finds it, and does not take the key', async () => {
    const owner = await addOwner(pool);
    const event = () => routedEvent(pool, owner, { idempotency: keyOf(30) });
    const [first, repeat] = [await event(), await event()];
    const holder = await ingestPool().connect();
    await holder.query('begin');
    await storeEvents(holder, [first]);
    const stored = storeEvents(ingestPool(), [repeat]);
    await storesWait(pool, 1);
    await holder.query('commit');
    holder.release();
    expect((await stored).stored).to.deep.equal(new Set());
    const { id, idempotency } = first;
    expect(idempotency && (await findFirstEvent(pool, owner.sourceId, idempotency.keyHash))).to.equal(id);
  });

  it('that PostgreSQL ends to resolve a deadlock is stored again, once', async () => {
    const owner = await addOwner(pool);
    const low = await routedEvent(pool, owner, { idempotency: keyOf(1) });
    const high = await routedEvent(pool, owner, { idempotency: keyOf(2) });
    const holder = await holdKeys(owner);
    await holder.take(high);
    const writer = createEventWriter(ingestPool());
    const written = Promise.all([writer.write(low), writer.write(high)]);
    await storesWait(pool, 1);
    await holder.take(low);
    await holder.release();
    expect(await written).to.deep.equal([{ kind: 'stored' }, { kind: 'stored' }]);
    expect(await storedOf(pool, owner)).to.include({ counted: 2, queued: 2 });
  });

  it('is stored but for the event that PostgreSQL cannot take, which alone is refused', async () => {
    const owner = await addOwner(pool);
    const writer = createEventWriter(ingestPool());
    const events = [
      await routedEvent(pool, owner),
      await routedEvent(pool, owner, { receivedAt: new Date(-1e15) }),
      await routedEvent(pool, owner),
    ];
    const written = await Promise.allSettled(events.map((event) => writer.write(event)));
    expect(written.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect(await storedOf(pool, owner)).to.include({ counted: 2, queued: 2 });
  });

  it('has each body with its event, also when some are not stored', async () => {
    const [changing, owner] = [await addOwner(pool), await addOwner(pool)];
    const first = await routedEvent(pool, owner, { idempotency: keyOf(20) });
    await storeEvents(pool, [first]);
    const stale = await routedEvent(pool, changing);
    const events = [
      await routedEvent(pool, owner),
      await routedEvent(pool, owner, { idempotency: keyOf(20) }),
      await routedEvent(pool, owner, { idempotency: keyOf(21) }),
      await routedEvent(pool, owner),
    ];
    await changeConfiguration(changing);
    const bodies = ['a', '', 'ccc', 'dd', 'e'].map((text) => Buffer.from(text));
    await storeEvents(
      pool,
      [stale, ...events].map((event, index) => ({ ...event, body: bodies[index] ?? event.body })),
    );
    const rows = await selectRows<{ id: string; body: Buffer }>(pool)`select event_id as id, body from event_payloads
      where event_id = any(${[stale, ...events].map(({ id }) => id)}) order by event_id`;
    const stored = [0, 2, 3].map((index) => ({ id: events[index]?.id, body: bodies[index + 1] }));
    expect(rows).to.deep.equal(stored.toSorted((one, other) => ((one.id ?? '') < (other.id ?? '') ? -1 : 1)));
  });

  it('does not wait for large bodies, however many there are', async () => {
    const [sender, other] = [await addOwner(pool), await addOwner(pool)];
    const body = Buffer.alloc(9_000_000, '0,');
    const keyed = (key: number) => routedEvent(pool, sender, { body, idempotency: keyOf(key) });
    const large = await Promise.all([10, 11, 12, 13].map(keyed));
    const holder = await holdKeys(sender);
    for (const event of large) await holder.take(event);
    const writer = createEventWriter(ingestPool());
    const written = Promise.all(large.map((event) => writer.write(event)));
    await storesWait(pool, 1);
    expect(await writer.write(await routedEvent(pool, other))).to.deep.equal({ kind: 'stored' });
    await holder.release();
    expect(await written).to.deep.equal(large.map(() => ({ kind: 'stored' })));
  });

  it('does not wait for another one of its source that is being committed, and both are counted', async () => {
    const owner = await addOwner(pool);
    const [first, second] = [await routedEvent(pool, owner), await routedEvent(pool, owner)];
    const uncommitted = ingestPool();
    const holder = await uncommitted.connect();
    const slotOf = (db: Queryable) => selectValue<number>(db)`select pg_backend_pid() % 16 as slot`;
    const [held, others] = [await slotOf(holder), ingestPool()];
    // One of a few connections has another slot.
    const clients = await Promise.all([1, 2, 3, 4].map(() => others.connect()));
    const slots = await Promise.all(clients.map(slotOf));
    const other = clients.find((_, index) => slots[index] !== held);
    await holder.query('begin');
    await storeEvents(holder, [first]);
    const stored = other ? await storeEvents(other, [second]) : undefined;
    expect(stored?.stored).to.deep.equal(new Set([second.id]));
    await holder.query('commit');
    for (const client of [holder, ...clients]) client.release();
    expect(await storedOf(pool, owner)).to.include({ counted: 2, queued: 2 });
  });

  function keysOf({ sourceId }: EventOwner): Promise<number> {
    return selectValue<number>(pool)`select count(*) as count from idempotency_keys where source_id = ${sourceId}`;
  }

  /** A connection that holds keys of a source until it is rolled back; with the file it ends in any case. */
  async function holdKeys(owner: EventOwner) {
    const holder = createPool(database.databaseUrl, { max: 1, statementTimeoutMs: 60_000, onError: () => {} });
    opened.push(holder);
    // The one that has waited for longer finds a deadlock, and ends itself: never this one.
    await holder.query(`set deadlock_timeout = '60s'`);
    await holder.query('begin');
    return {
      take: ({ idempotency }: NewEvent) =>
        execute(holder)`insert into idempotency_keys
          values (${owner.sourceId}, ${idempotency?.keyHash}, 'evt_held', now() + interval '1 hour')`,
      release: () => holder.query('rollback'),
    };
  }
});
