// What it costs to find where a replay leads, by the pages that PostgreSQL reads.
import { expect } from 'chai';
import { inTransaction } from '../../db/connections/pool.ts';
import { createReplays } from '../../db/replay/replay.ts';
import { targetsStatement } from '../../db/replay/targets.ts';
import { JOIN_LISTS } from '../../db/sql-rules.ts';
import { type HistoryDatabase, historyDatabase, makeOwner, storeEvent } from '../support/history.ts';

const EVENTS = 20;
const DESTINATIONS = 20;
const TIMES = 6;

describe('the targets of a replay', () => {
  let database: HistoryDatabase;
  before(async () => {
    database = await historyDatabase(2);
  });
  after(() => database.close());

  it('are found by reading the deliveries of the events once, however often they were replayed', async () => {
    const { pool } = database;
    const owner = await makeOwner(pool, 1, DESTINATIONS);
    const { organizationId, routes } = owner;
    const [route] = routes;
    if (!route) throw new Error('there is no route');
    const statuses = Array.from({ length: DESTINATIONS }, () => 'pending' as const);
    const eventIds: string[] = [];
    for (let n = 0; n < EVENTS; n += 1)
      eventIds.push((await storeEvent(pool, owner, route, { receivedAt: new Date(), statuses })).id);
    let last: string[] = [];
    for (let n = 1; n < TIMES; n += 1) {
      await pool.query(
        `update deliveries set status = 'delivered', finished_at = now() where organization_id = $1 and status = 'pending'`,
        [organizationId],
      );
      const { deliveries } = await createReplays(pool, { organizationId, eventIds });
      last = deliveries.map(({ id }) => id);
    }
    const { text, values } = targetsStatement({ organizationId, eventIds });
    const found = await inTransaction(pool, async (db) => {
      await db.query(`select ${JOIN_LISTS}`);
      const { rows: plans } = await db.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(
        `explain (analyze, buffers, format json) ${text}`,
        values,
      );
      const { rows } = await db.query<{ replayOf: string }>(text, values);
      return { plan: plans[0]?.['QUERY PLAN'][0]?.Plan ?? {}, rows };
    });
    expect(found.rows.map(({ replayOf }) => replayOf).toSorted()).to.deep.equal(last.toSorted());
    const pages = (found.plan['Shared Hit Blocks'] ?? 0) + (found.plan['Shared Read Blocks'] ?? 0);
    expect(pages).to.be.within(1, 3 * EVENTS * DESTINATIONS * TIMES);
  });
});
