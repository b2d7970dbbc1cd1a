// The pages of replays, straight on PostgreSQL: every event once, whatever happens in between.
import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { makePage } from '../../db/replay/event-replay-pages.ts';
import { countExpired, countMatching, endEventReplay, selectEvents } from '../../db/replay/event-replays.ts';
import { createPool } from '../../db/connections/pool.ts';
import { many, ReplayDatabase } from '../support/database/replay-database.ts';
import { until } from '../support/until.ts';
import { removeRoute } from '../support/rows.ts';
import { useStarted } from '../support/use-hookyard.ts';
import { execute, selectRows } from '../support/database/sql.ts';

const oneConnection = { max: 1, statementTimeoutMs: 20_000, onError: () => {} };

describe('pages of a replay', () => {
  const db = useStarted(ReplayDatabase.make);
  beforeEach(() => db.renew());

  it('replay each event once, oldest first, as many in a page as the rate says', async () => {
    const ids = await db.storeEvents(...many(7));
    const seen = await db.run(await db.startReplay());
    expect(seen.map(({ pages, eventsReplayed, status }) => [pages, eventsReplayed, status])).to.deep.equal([
      [1, 3, 'running'],
      [2, 6, 'running'],
      [3, 7, 'completed'],
    ]);
    expect(seen.at(-1)).to.include({
      eventsTotal: 7,
      deliveriesCreated: 7,
      eventsExpired: 0,
      eventsUnroutable: 0,
    });
    expect(await db.replayedEvents()).to.deep.equal(ids);
    const rows = await selectRows(db.pool)`select distinct status, deliveries_count from events
      where organization_id = ${db.organizationId}`;
    expect(rows).to.deep.equal([{ status: 'pending', deliveries_count: 1 }]);
  });

  it('are made once, however often and by however many they are asked for', async () => {
    const ids = await db.storeEvents(...many(6));
    const key = await db.startReplay({}, 2);
    const first = await makePage(db.pool, key, 1);
    expect(first.deliveries).to.have.length(2);
    const again = await makePage(db.pool, key, 1);
    expect(again).to.deep.equal({ progress: first.progress, deliveries: [] });
    const rivals = await Promise.all(Array.from({ length: 6 }, () => makePage(db.pool, key, 2)));
    expect(rivals.map(({ deliveries }) => deliveries.length).toSorted()).to.deep.equal([0, 0, 0, 0, 0, 2]);
    expect(new Set(rivals.map(({ progress }) => progress.eventsReplayed))).to.deep.equal(new Set([4]));
    await db.run(key, 2);
    expect(await db.replayedEvents()).to.deep.equal(ids);
  });

  it('judge an event when its page is reached: what has changed meanwhile counts as it is then', async () => {
    const [a = '', b = '', c = '', d = '', e = ''] = await db.storeEvents(
      { status: 'failed' },
      { status: 'pending' },
      { status: 'failed' },
      { status: 'failed' },
      { status: 'pending' },
    );
    const key = await db.startReplay({ status: 'failed' }, 1);
    await makePage(db.pool, key, 1);
    const become = (id: string, status: string) =>
      db.pool.query('update events set status = $2 where id = $1', [id, status]);
    // Behind the replay already: it failed again, or failed only now.
    await become(a, 'failed');
    await become(b, 'failed');
    // Before it.
    await become(c, 'delivered');
    await become(e, 'failed');
    const end = (await db.run(key, 1)).at(-1);
    expect(await db.replayedEvents()).to.deep.equal([a, b, d, e]);
    expect(end).to.include({ eventsTotal: 3, eventsReplayed: 4 });
  });

  it('count what has no payload any more, or goes nowhere, and continue', async () => {
    const events = await db.storeEvents({}, { body: null }, {}, { body: null }, {});
    const selection = await selectEvents(db.pool, db.organizationId, {});
    expect([await countMatching(db.pool, selection), await countExpired(db.pool, selection)]).to.deep.equal([5, 2]);
    const key = await db.startReplay({}, 2);
    await makePage(db.pool, key, 1);
    await removeRoute(db.pool, db.routeId);
    const end = (await db.run(key, 1)).at(-1);
    expect(end).to.include({ eventsReplayed: 1, eventsExpired: 2, eventsUnroutable: 2, status: 'completed' });
    expect(await db.replayedEvents()).to.deep.equal([events[0]]);
  });

  it('are none after a cancel, which waits for the one under way', async () => {
    const ids = await db.storeEvents(...many(6));
    const key = await db.startReplay();
    const blocker = await db.pool.connect();
    try {
      await blocker.query('begin');
      await blocker.query('select from events where id = $1 for update', [ids[0]]);
      const page = makePage(db.pool, key, 1);
      await until('the page to wait for an event', () => db.waitingBackend());
      const cancelling = endEventReplay(db.pool, key, 'cancelled');
      await until('the cancel to wait for the page', async () => (await db.waitingBackends()).length === 2);
      await blocker.query('commit');
      expect((await page).progress).to.include({ status: 'running', eventsReplayed: 3 });
      expect(await cancelling).to.equal(true);
    } finally {
      blocker.release(true);
    }
    const { progress, deliveries } = await makePage(db.pool, key, 2);
    expect(progress).to.include({ status: 'cancelled', eventsReplayed: 3, pages: 1 });
    expect(deliveries).to.deep.equal([]);
    expect(await endEventReplay(db.pool, key, 'cancelled'), 'it has ended').to.equal(false);
    expect(await db.replayedEvents()).to.deep.equal(ids.slice(0, 3));
  });

  it('hold no connection and no lock while a schema validates, and are none if a cancel comes first', async () => {
    await db.storeEvents(...many(3));
    const schemaId = newId('sch');
    await execute(db.pool)`insert into schemas (id, organization_id, name, slug, schema)
      values (${schemaId}, ${db.organizationId}, ${schemaId}, ${schemaId}, '{}')`;
    await db.pool.query('update routes set schema_id = $2 where id = $1', [db.routeId, schemaId]);
    const key = await db.startReplay();
    const own = createPool(db.databaseUrl, oneConnection);
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    try {
      const page = makePage(own, key, 1, async (_organizationId, schemas) => {
        asked.resolve();
        await answer.promise;
        return schemas.map(() => []);
      });
      await asked.promise;
      expect((await own.query('select 1 as free')).rows).to.deep.equal([{ free: 1 }]);
      expect(await endEventReplay(db.pool, key, 'cancelled')).to.equal(true);
      answer.resolve();
      const { progress, deliveries } = await page;
      expect(progress).to.include({ status: 'cancelled', pages: 0 });
      expect(deliveries).to.deep.equal([]);
    } finally {
      answer.resolve();
      await own.end();
    }
    expect(await db.replayedEvents()).to.deep.equal([]);
  });
});
