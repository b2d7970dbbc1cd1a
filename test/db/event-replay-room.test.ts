import { expect } from 'chai';
import { createReplayRoom } from '../../activities/replay.ts';
import { newId } from '../../core/text/ids.ts';
import { setLimits, setPlan } from '../../db/organizations/organizations.ts';
import { makePage } from '../../db/replay/event-replay-pages.ts';
import type { EventReplayKey } from '../../db/replay/event-replays.ts';
import { cannotValidate } from '../../db/replay/targets.ts';
import { insertRoute } from './fixtures.ts';
import { many, ReplayDatabase } from '../support/database/replay-database.ts';
import { emptyOutbox } from '../support/rows.ts';
import { useStarted } from '../support/use-hookyard.ts';
import { execute, selectRows, selectValue } from '../support/database/sql.ts';

const LIMITS = {
  HOOKYARD_MAX_BACKLOG: 40,
  HOOKYARD_MAX_DATABASE_BYTES: undefined,
  HOOKYARD_PAYLOAD_RETENTION_DAYS: 30,
  HOOKYARD_EVENT_RETENTION_DAYS: 90,
};

describe('the pages of a replay and the backlog', () => {
  const db = useStarted(ReplayDatabase.make);
  beforeEach(async () => {
    await emptyOutbox(db.pool);
    await db.renew();
    await limit({ replayedPerSecond: null });
  });

  // Another worker each time: it knows nothing of what was made before but what PostgreSQL has.
  const page = (key: EventReplayKey, number: number, limits: Parameters<typeof createReplayRoom>[1] = LIMITS) =>
    makePage(db.pool, key, number, cannotValidate, createReplayRoom(db.pool, limits));
  const limit = (changes: Parameters<typeof setLimits>[2]) => setLimits(db.pool, db.organizationId, changes);
  function waitsFor({ replayId }: EventReplayKey): Promise<string | null> {
    return selectValue<string | null>(db.pool)`select waits_for from event_replays where id = ${replayId}`;
  }

  /**
   * Seconds from the start of the first until its next page, from there to that of the second, and to the end of what
   * is planned.
   */
  async function planned(first: EventReplayKey, second: EventReplayKey) {
    const rows = await selectRows<{ rests: number; behind: number; takes: number }>(db.pool)`
      select extract(epoch from a.page_at - a.started_at)::float8 as rests,
             extract(epoch from b.page_at - a.page_at)::float8 as behind,
             extract(epoch from o.replays_planned_until - b.page_at)::float8 as takes
      from event_replays a, event_replays b, organizations o
      where a.id = ${first.replayId} and b.id = ${second.replayId} and o.id = a.organization_id`;
    const [row] = rows;
    if (!row) throw new Error('no such replays');
    return row;
  }

  /** So many deliveries of the organization wait for another destination. */
  async function wait(organizationId: string, count: number): Promise<void> {
    await execute(db.pool)`
      insert into outbox (delivery_id, organization_id, event_id, source_id, destination_id, priority, shard)
      select 'dlv_' || n, ${organizationId}, 'evt_1', 'src_1', 'dst_1', 0, 0 from generate_series(1, ${count}) n`;
  }

  it('end before the first event without room, and continue when there is some', async () => {
    const ids = await db.storeEvents(...many(5));
    const key = await db.startReplay({}, 100);
    await limit({ waitingDeliveries: 2 });
    const first = await page(key, 1);
    expect(first.progress).to.include({ status: 'running', pages: 1, eventsReplayed: 2 });
    expect(await waitsFor(key)).to.equal(null);
    const second = await page(key, 2);
    expect(second.deliveries).to.deep.equal([]);
    expect(second.progress).to.include({ status: 'running', pages: 1, eventsReplayed: 2 });
    expect(second.progress.waitsFor).to.include('limit waitingDeliveries');
    expect(await waitsFor(key)).to.equal(second.progress.waitsFor);
    await emptyOutbox(db.pool);
    expect((await page(key, 2)).progress).to.include({ pages: 2, eventsReplayed: 4 });
    expect(await waitsFor(key)).to.equal(null);
    await limit({ waitingDeliveries: null });
    expect((await page(key, 3)).progress).to.include({ status: 'completed', eventsReplayed: 5 });
    expect(await db.replayedEvents()).to.deep.equal(ids);
  });

  it('wait at the share of their organization, and not for those of others', async () => {
    await db.storeEvents(...many(3));
    const key = await db.startReplay({}, 100);
    await wait(db.organizationId, 30);
    const { progress } = await page(key, 1);
    const waitsFor = 'This organization has too many waiting deliveries';
    expect(progress).to.include({ status: 'running', pages: 0, waitsFor });
    await db.pool.query('update outbox set organization_id = $1', [newId('org')]);
    expect((await page(key, 1)).progress).to.include({ status: 'completed', eventsReplayed: 3 });
  });

  it('wait while their organization holds its share of a database that is nearly full', async () => {
    await db.storeEvents(...many(3));
    const key = await db.startReplay({}, 100);
    const { rows } = await db.pool.query<{ bytes: number }>('select pg_database_size(current_database()) as bytes');
    const nearlyFull = { ...LIMITS, HOOKYARD_MAX_DATABASE_BYTES: Math.floor((rows[0]?.bytes ?? 0) * 1.005) };
    const { progress } = await page(key, 1, nearlyFull);
    const waitsFor = 'This organization has used up its share of the database, and the database is nearly full';
    expect(progress).to.include({ pages: 0, waitsFor });
  });

  it('wait before an event that leads to too many deliveries, until routes are disabled', async () => {
    await db.storeEvents(...many(2));
    const key = await db.startReplay({}, 100);
    await limit({ deliveriesPerEvent: 1 });
    const routeId = await insertRoute(db.pool, db, [db.destinationId]);
    const { progress } = await page(key, 1);
    expect(progress).to.include({ pages: 0, eventsReplayed: 0 });
    expect(progress.waitsFor).to.include('more than 1 delivery (limit deliveriesPerEvent);');
    await db.pool.query('update routes set enabled = false where id = $1', [routeId]);
    expect((await page(key, 1)).progress).to.include({ status: 'completed', eventsReplayed: 2 });
  });

  it('take turns at the rate of their organization, each when its time has come', async () => {
    await db.storeEvents(...many(6, { status: 'failed' }), ...many(6, { status: 'delivered' }));
    const [failed, delivered] = [{ status: 'failed' }, { status: 'delivered' }] as const;
    const keys = [await db.startReplay(failed, 100), await db.startReplay(delivered, 100)] as const;
    await limit({ replayedPerSecond: 1 });
    const first = await page(keys[0], 1);
    expect(first.progress).to.include({ status: 'running', pages: 1, deliveriesCreated: 1 });
    // Others have planned the next hour.
    await execute(db.pool)`update organizations set replays_planned_until = replays_planned_until + interval '1 hour'
      where id = ${db.organizationId}`;
    const second = await page(keys[1], 1);
    expect(second.deliveries).to.deep.equal([]);
    expect(second.progress).to.include({ status: 'running', pages: 0 });
    expect(second.progress.restMs, 'it asks again').to.equal(10_000);
    const { rests, behind, takes } = await planned(...keys);
    // The start is stored in whole milliseconds.
    expect(rests, 'the rest after a page with one delivery').to.be.at.least(0.999);
    expect(behind, 'the second behind what was planned').to.be.at.least(3600);
    expect(takes).to.equal(1);
    // What was planned for another rate is forgotten.
    await limit({ replayedPerSecond: 2 });
    expect((await page(keys[1], 1)).progress).to.include({ pages: 1, deliveriesCreated: 1 });
    expect((await page(keys[0], 2)).deliveries, 'behind the other').to.deep.equal([]);
    await setPlan(db.pool, db.organizationId, 'pro');
    expect((await page(keys[0], 2)).progress).to.include({ pages: 2, deliveriesCreated: 2 });
    await limit({ replayedPerSecond: null });
    for (const [key, number] of [
      [keys[0], 3],
      [keys[1], 2],
    ] as const)
      expect((await page(key, number)).progress).to.include({ status: 'completed', deliveriesCreated: 6 });
  });
});
