import { expect } from 'chai';
import { createEventWriter } from '../../api/ingest/event-writer.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { addOwner, type EventOwner, keyOf, routedEvent, storedOf, storesWait } from '../support/database/new-events.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { inOpenTransaction } from '../support/database/row-lock.ts';
import { until } from '../support/until.ts';
import { useDatabase, useStarted } from '../support/use-hookyard.ts';

describe('the writer of events, when the connection to PostgreSQL breaks', () => {
  const { database, pool } = useDatabase('writer');
  const proxy = useStarted(() => startTcpProxy(new URL(database.databaseUrl).host));
  let ingestPool: Pool;
  let owner: EventOwner;
  beforeEach(async () => {
    const behindProxy = Object.assign(new URL(database.databaseUrl), { host: proxy.address });
    ingestPool = createPool(behindProxy.href, { max: 4, statementTimeoutMs: 20_000, onError: () => {}, hotPath: true });
    // The connections to write with, of which a group may take any: what is held later must not be their beginning.
    await Promise.all(Array.from({ length: 4 }, () => ingestPool.query('select pg_sleep(0.1)')));
    owner = await addOwner(pool);
  });

  afterEach(async () => {
    proxy.breakConnections();
    await ingestPool.end();
  });

  const stored = () => storedOf(pool, owner);
  const changeConfiguration = () => pool.query(`update sources set name = name || '!' where id = $1`, [owner.sourceId]);
  const committed = (count: number) => until('the commit', async () => (await stored()).ids.length === count);

  it('after the commit, says of each of the group what became of it', async () => {
    const writer = createEventWriter(ingestPool);
    const first = await routedEvent(pool, owner, { idempotency: keyOf(1) });
    expect(await writer.write(first)).to.deep.equal({ kind: 'stored' });
    const old = await routedEvent(pool, owner);
    await changeConfiguration();
    const plain = await routedEvent(pool, owner);
    const keyed = await routedEvent(pool, owner, { idempotency: keyOf(2) });
    const again = await routedEvent(pool, owner, { idempotency: keyOf(1) });
    proxy.holdAnswers();
    const written = Promise.all([plain, keyed, again, old].map((event) => writer.write(event)));
    await committed(3);
    proxy.breakConnections();
    expect(await written).to.deep.equal([
      { kind: 'stored' },
      { kind: 'stored' },
      { kind: 'duplicate', eventId: first.id },
      { kind: 'stale' },
    ]);
    expect(await stored()).to.deep.equal({ ids: [first.id, plain.id, keyed.id].toSorted(), counted: 3, queued: 3 });
  });

  it('after the commit and before a change of the configuration, does not have the event routed and stored again', async () => {
    const writer = createEventWriter(ingestPool);
    const event = await routedEvent(pool, owner);
    proxy.holdAnswers();
    const written = writer.write(event);
    await committed(1);
    await changeConfiguration();
    proxy.breakConnections();
    expect(await written).to.deep.equal({ kind: 'stored' });
    expect(await stored()).to.include({ counted: 1, queued: 1 });
  });

  it('before the statement has reached PostgreSQL, stores the events', async () => {
    const writer = createEventWriter(ingestPool);
    const event = await routedEvent(pool, owner);
    proxy.holdRequests();
    const written = writer.write(event);
    await until('the statement to be on its way', () => proxy.isHolding(event.id));
    proxy.breakConnections();
    expect(await written).to.deep.equal({ kind: 'stored' });
    expect(await stored()).to.deep.equal({ ids: [event.id], counted: 1, queued: 1 });
  });

  for (const idempotency of [null, keyOf(3)]) {
    it(`while the statement is running, waits for what becomes of it${idempotency ? ', with an idempotency key' : ''}`, async () => {
      const writer = createEventWriter(ingestPool);
      const event = await routedEvent(pool, owner, { idempotency });
      // Counting is the last thing the statement does, and has to wait.
      let written: ReturnType<typeof writer.write> | undefined;
      await inOpenTransaction(pool, async (holder) => {
        await holder.query('lock table ledger_entries in exclusive mode');
        written = writer.write(event);
        await storesWait(pool, 1);
        proxy.breakConnections();
        await storesWait(pool, 2);
      });
      expect(await written).to.deep.equal({ kind: 'stored' });
      expect(await stored()).to.deep.equal({ ids: [event.id], counted: 1, queued: 1 });
    });
  }

  it('gives up when PostgreSQL stays away', async () => {
    const writer = createEventWriter(ingestPool);
    const event = await routedEvent(pool, owner);
    proxy.holdRequests();
    const written = writer.write(event).catch((error: unknown) => error);
    await until('the statement to be on its way', () => proxy.isHolding(event.id));
    proxy.refuseConnections();
    expect(await written).to.be.an('error');
    proxy.breakConnections();
    expect(await stored()).to.deep.equal({ ids: [], counted: 0, queued: 0 });
  });
});
