// The rests of a replay between its pages: the activity itself on PostgreSQL, told how busy its process is.
import { Client, Connection } from '@temporalio/client';
import { expect } from 'chai';
import { pino } from 'pino';
import { createReplayActivities } from '../../activities/replay.ts';
import { setLimits } from '../../db/organizations/limits.ts';
import { cannotValidate } from '../../db/replay/replay-schemas.ts';
import { many, ReplayDatabase } from '../support/replay-database.ts';

const MOST_TIMES = 8;
const PAGES = 3;
const PAGE_EVENTS = 100;
// So many that its rate makes no rest longer.
const PER_SECOND = 1_000_000;

describe('the rests of a replay', () => {
  let db: ReplayDatabase;
  before(async () => {
    db = await ReplayDatabase.make();
  });
  after(() => db.close());

  /** Each rest in ms, and how long the page before it took at most. */
  async function rests(process: { alone: boolean; loopUse: number }) {
    await db.renew();
    await setLimits(db.pool, db.organizationId, { replayedPerSecond: null });
    await db.storeEvents(...many(PAGES * PAGE_EVENTS));
    const key = await db.startReplay({}, PER_SECOND);
    const found: { restMs: number; tookMs: number }[] = [];
    let since = performance.now();
    const { replayPage } = createReplayActivities({
      pool: db.pool,
      // Nothing that is replayed has failed, so nobody is told.
      client: new Client({ connection: Connection.lazy() }),
      compute: { validate: cannotValidate },
      settings: {
        HOOKYARD_MAX_BACKLOG: 1_000_000,
        HOOKYARD_MAX_DATABASE_BYTES: undefined,
        HOOKYARD_PAYLOAD_RETENTION_DAYS: 30,
        HOOKYARD_EVENT_RETENTION_DAYS: 90,
      },
      alone: () => process.alone,
      loopUse: () => process.loopUse,
      rest: async (restMs) => {
        found.push({ restMs, tookMs: performance.now() - since });
        since = performance.now();
      },
      log: pino({ level: 'silent' }),
    });
    for (let page = 1; ; ) {
      since = performance.now();
      const { status, pages } = await replayPage({ ...key, page });
      if (status !== 'running') break;
      page = pages + 1;
    }
    expect(await db.replayedEvents()).to.have.lengthOf(PAGES * PAGE_EVENTS);
    return found;
  }

  it('rest longer while the worker is busy, where there are others (LIMIT-22)', async () => {
    const found = await rests({ alone: false, loopUse: 1 });
    expect(found).to.have.length.at.least(PAGES - 1);
    // The machine may stand still between a page and its rest.
    expect(Math.max(...found.map(({ restMs, tookMs }) => restMs / tookMs))).to.be.within(2, MOST_TIMES);
  });

  for (const process of [
    { alone: false, loopUse: 0, when: 'the worker has room' },
    { alone: true, loopUse: 1, when: 'there is one organization' },
  ])
    it(`are no longer than a page takes while ${process.when}`, async () => {
      const found = await rests(process);
      expect(found).to.have.length.at.least(PAGES - 1);
      for (const { restMs, tookMs } of found) expect(restMs).to.be.at.most(tookMs);
    });
});
