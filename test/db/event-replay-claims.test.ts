// Replays that a worker must check, and those that can be removed.
import { expect } from 'chai';
import { makePage } from '../../db/replay/event-replay-pages.ts';
import {
  claimEventReplays,
  createEventReplay,
  type EventReplayKey,
  forgetEventReplays,
  selectEvents,
} from '../../db/replay/event-replays.ts';
import { many, ReplayDatabase } from '../support/database/replay-database.ts';
import { useStarted } from '../support/use-hookyard.ts';
import { execute, selectColumn } from '../support/database/sql.ts';

describe('records of replays', () => {
  const db = useStarted(ReplayDatabase.make);
  beforeEach(() => db.renew());

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
      const holder = await db.pool.connect();
      try {
        await holder.query('begin');
        await holder.query('select from event_replays where id = $1 for update', [key.replayId]);
        expect(await claimEventReplays(db.pool, 5)).to.deep.equal([]);
      } finally {
        holder.release(true);
      }
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
    await forgetEventReplays(db.pool, 0);
    expect(await left()).to.have.length(3);
    await forgetEventReplays(db.pool, 90);
    expect(await left()).to.deep.equal([recent.replayId, open.replayId]);
  });
});
