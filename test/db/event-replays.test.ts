import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { makePage } from '../../db/replay/event-replay-pages.ts';
import {
  claimEventReplays,
  countExpired,
  countMatching,
  createEventReplay,
  endEventReplay,
  type EventReplayKey,
  selectEvents,
} from '../../db/replay/event-replays.ts';
import { forgetEnded } from '../../db/sql/ranges.ts';
import { inTransaction } from '../../db/connections/pool.ts';
import { insertDestination } from './fixtures.ts';
import { many, ReplayDatabase } from '../support/database/replay-database.ts';
import { inOpenTransaction } from '../support/database/row-lock.ts';
import { until } from '../support/until.ts';
import { removeRoute } from '../support/rows.ts';
import { usePool, useStarted } from '../support/use-hookyard.ts';
import { execute, selectColumn, selectRows } from '../support/database/sql.ts';

const MIB = 1024 * 1024;

describe('replays and their pages', () => {
  const db = useStarted(ReplayDatabase.make);
  const own = usePool(db, { max: 1 });
  beforeEach(() => db.renew());

  it('replay each event once, oldest first, as many in a page as the rate says', async () => {
    const ids = await db.storeEvents(...many(7));
    const seen = await db.run(await db.startReplay());
    expect(seen.map(({ pages, eventsReplayed, status }) => [pages, eventsReplayed, status])).to.deep.equal([
      [1, 3, 'running'],
      [2, 6, 'running'],
      [3, 7, 'completed'],
    ]);
    expect(seen.at(-1)).to.include({ eventsTotal: 7, deliveriesCreated: 7, eventsExpired: 0, eventsUnroutable: 0 });
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
    const [page, cancelling] = await inTransaction(db.pool, async (blocker) => {
      await blocker.query('select from events where id = $1 for update', [ids[0]]);
      const page = makePage(db.pool, key, 1);
      await until('the page to wait for an event', () => db.waitingBackend());
      const cancelling = endEventReplay(db.pool, key, 'cancelled');
      await until('the cancel to wait for the page', async () => (await db.waitingBackends()).length === 2);
      return [page, cancelling] as const;
    });
    expect((await page).progress).to.include({ status: 'running', eventsReplayed: 3 });
    expect(await cancelling).to.equal(true);
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
    }
    expect(await db.replayedEvents()).to.deep.equal([]);
  });

  it('leave out events stored after the request, whatever their ids say', async () => {
    const ids = await db.storeEvents(...many(2));
    const key = await db.startReplay();
    await db.storeEvents({ receivedAgo: 60_000 }, { receivedAgo: 1000 }, { receivedAgo: 0 });
    await db.run(key);
    expect(await db.replayedEvents()).to.deep.equal(ids);
  });

  it('look for their events in steps, and say how far they are', async () => {
    const ids = await db.storeEvents(...many(2500), { status: 'failed' });
    const key = await db.startReplay({ status: 'failed' });
    const steps = [];
    for (let step = 0; step < 3; step += 1) steps.push((await makePage(db.pool, key, 1)).progress);
    expect(steps.map(({ status, pages, eventsReplayed }) => [status, pages, eventsReplayed])).to.deep.equal([
      ['running', 0, 0],
      ['running', 0, 0],
      ['completed', 1, 1],
    ]);
    const times = steps.map(({ replayedUntil }) => String(replayedUntil));
    expect(times).to.deep.equal(times.toSorted());
    expect(await db.replayedEvents()).to.deep.equal([ids.at(-1)]);
  });

  it('take no more than some MiB of payloads, and at least one event', async () => {
    await db.storeEvents(...many(2, { payloadSize: 40 * MIB }), ...many(3, { payloadSize: 15 * MIB }));
    const seen = (await db.run(await db.startReplay({}, 5))).map(({ eventsReplayed }) => eventsReplayed);
    expect(seen).to.deep.equal([1, 2, 4, 5]);
  });

  it('make no more than some hundred deliveries in a page, and all in the end', async () => {
    const more = Array.from({ length: 19 }, () => insertDestination(db.pool, db.organizationId));
    const others = await Promise.all(more);
    await execute(db.pool)`update routes set destination_ids = destination_ids || ${others} where id = ${db.routeId}`;
    await db.storeEvents(...many(60));
    const seen = await db.run(await db.startReplay({}, 100));
    expect(seen.map(({ eventsReplayed, deliveriesCreated }) => [eventsReplayed, deliveriesCreated])).to.deep.equal([
      [25, 500],
      [50, 1000],
      [60, 1200],
    ]);
  });

  describe('claims', () => {
    // Deliveries that earlier tests left open are not handled here.
    beforeEach(() => db.pool.query('update event_replays set due_at = null'));

    const letLapse = ({ replayId }: EventReplayKey) =>
      db.pool.query(`update event_replays set due_at = now() - interval '1 second' where id = $1`, [replayId]);

    it('find a new replay once, and again when nothing has come of it', async () => {
      const key = await db.startReplay();
      const claims = await Promise.all(Array.from({ length: 4 }, () => claimEventReplays(db.pool, 5)));
      expect(claims.flat().map(({ replayId }) => replayId)).to.deep.equal([key.replayId]);
      await letLapse(key);
      expect(await claimEventReplays(db.pool, 5)).to.have.length(1);
    });

    it('take organizations in turn: one replay is not behind a hundred of another', async () => {
      for (let count = 0; count < 100; count += 1) {
        const selection = await selectEvents(db.pool, db.organizationId, {});
        const replay = { selection, search: null, destinationIds: null, ratePerSecond: 1, eventsTotal: 0 };
        await createEventReplay(db.pool, replay, Number.POSITIVE_INFINITY);
      }
      const greedy = db.organizationId;
      await db.renew();
      const { replayId } = await db.startReplay();
      // Due for longer than the one.
      await execute(db.pool)`update event_replays set due_at = now() - interval '1 minute'
        where organization_id = ${greedy}`;
      const claimed = await claimEventReplays(db.pool, 5);
      expect(claimed.map(({ organizationId }) => organizationId).filter((id) => id === greedy)).to.have.length(4);
      expect(claimed.map((each) => each.replayId)).to.include(replayId);
    });

    it('leave alone a replay that makes pages, one whose page is being made, and one that has ended', async () => {
      await db.storeEvents(...many(4));
      const key = await db.startReplay();
      await letLapse(key);
      await makePage(db.pool, key, 1);
      expect(await claimEventReplays(db.pool, 5)).to.deep.equal([]);
      await letLapse(key);
      await inOpenTransaction(db.pool, async (holder) => {
        await holder.query('select from event_replays where id = $1 for update', [key.replayId]);
        expect(await claimEventReplays(db.pool, 5)).to.deep.equal([]);
      });
      await db.run(key, 1);
      expect(await claimEventReplays(db.pool, 5)).to.deep.equal([]);
    });
  });

  it('that ended long ago are forgotten, others kept', async () => {
    const [old, recent, open] = [await db.startReplay(), await db.startReplay(), await db.startReplay()];
    await db.run(old);
    await db.run(recent);
    await execute(db.pool)`
      update event_replays set finished_at = now() - interval '91 days' where id = ${old.replayId}`;
    const left = () => selectColumn<string>(db.pool)`select id from event_replays
      where organization_id = ${db.organizationId} order by id`;
    await forgetEnded(db.pool, 'event_replays', 0);
    expect(await left()).to.have.length(3);
    await forgetEnded(db.pool, 'event_replays', 90);
    expect(await left()).to.deep.equal([recent.replayId, open.replayId]);
  });
});
