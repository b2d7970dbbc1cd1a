// The statistics against the rows they count: after all that happens to deliveries, and before and after old buckets are merged.
import { expect } from 'chai';
import { openError, ownWords } from '../../core/error-summary.ts';
import { cancelDeliveries, deleteEvent, endDeliveries } from '../../db/delivery/delivery-commands.ts';
import { foldIngest } from '../../db/history/figures/fold-ingest.ts';
import { mergeBuckets } from '../../db/history/figures/merge-buckets.ts';
import { packFigures } from '../../db/history/figures/pack-figures.ts';
import {
  destinationHealth,
  destinationTotals,
  ingestTotals,
  routeStatistics,
} from '../../db/history/figures/statistics.ts';
import { inTransaction, type Pool } from '../../db/connections/pool.ts';
import { createReplays } from '../../db/replay/replay.ts';
import { INGESTED } from '../../db/sql-rules.ts';
import { type HistoryDatabase, historyDatabase, makeOwner, recordOutcome, storeEvent } from '../support/history.ts';

const HOUR = 3_600_000;
const DAY_HOURS = 24;
const MONTH_HOURS = 720;

describe('Statistics of history', () => {
  let database: HistoryDatabase;
  let pool: Pool;
  before(async () => {
    database = await historyDatabase(6);
    pool = database.pool;
  });
  after(() => database.close());

  /** What the rows say: finished deliveries by status, of a route or of a destination. */
  async function recount(column: 'route_id' | 'destination_id', id: string): Promise<Record<string, number>> {
    const { rows } = await pool.query<{ status: string; total: number }>(
      `select case when status = 'failed' and not exists (select from attempts a where a.delivery_id = d.id) then 'unsent' else status end as status,
              count(*) as total
       from deliveries d where ${column} = $1 group by 1`,
      [id],
    );
    return Object.fromEntries(rows.map(({ status, total }) => [status, total]));
  }

  it('equal the rows after replays, cancels, failovers, refusals by a schema and ends without an attempt', async () => {
    const owner = await makeOwner(pool, 2, 2);
    const { organizationId } = owner;
    const load = owner.routes.map(async (route) => {
      for (let n = 0; n < 36; n += 1) {
        const statuses = n % 6 === 0 ? (['schema_failed', 'pending'] as const) : (['pending', 'pending'] as const);
        const event = await storeEvent(pool, owner, route, { receivedAt: new Date(), statuses: [...statuses] });
        const [first, second] = event.deliveries;
        if (!first || !second) throw new Error('two deliveries were asked for');
        if (n % 6 === 1) {
          const id = await recordOutcome(pool, event, first, { status: 'failed', failoverId: route.failoverId });
          const taken = { id: id ?? '', destinationId: route.failoverId };
          await recordOutcome(pool, event, taken, { status: n % 4 === 1 ? 'delivered' : 'failed' });
        } else if (n % 6 === 2) {
          await recordOutcome(pool, event, first, { status: 'retrying', latency: 500 });
          await endDeliveries(pool, 'failed', {
            organizationId,
            deliveryIds: [second.id],
            reason: openError(ownWords`The transform failed`),
          });
          continue;
        } else if (n % 6 === 3) {
          await cancelDeliveries(pool, {
            organizationId,
            deliveryIds: [first.id],
            reason: openError(ownWords`a test`),
          });
        } else if (n % 6 === 4) {
          await recordOutcome(pool, event, first, { status: 'failed' });
          await createReplays(pool, { organizationId, eventIds: [event.id], destinationIds: [first.destinationId] });
        } else if (n % 6 === 5) {
          await recordOutcome(pool, event, first, { status: 'delivered' });
        }
        await recordOutcome(pool, event, second, { status: n % 5 === 0 ? 'failed' : 'delivered' });
      }
    });
    await Promise.all(load);
    for (const route of owner.routes) {
      const rows = await recount('route_id', route.id);
      const figures = await routeStatistics(pool, route.id, 1);
      expect(rows).to.have.all.keys(
        'delivered',
        'failed',
        'unsent',
        'failed_over',
        'schema_failed',
        'cancelled',
        'retrying',
        'pending',
      );
      expect(figures).to.include({
        eventsRouted: 36,
        deliveriesSucceeded: rows.delivered,
        deliveriesFailed: (rows.failed ?? 0) + (rows.schema_failed ?? 0) + (rows.unsent ?? 0),
      });
      for (const destinationId of [...route.destinationIds, route.failoverId]) {
        const seen = await recount('destination_id', destinationId);
        // A schema, a transform or a person kept the others from the destination.
        const failed = (seen.failed ?? 0) + (seen.failed_over ?? 0);
        const succeeded = seen.delivered ?? 0;
        expect(await destinationHealth(pool, destinationId, 1)).to.include({
          successfulDeliveries: succeeded,
          failedDeliveries: failed,
          totalDeliveries: succeeded + failed,
        });
        const totals = await destinationTotals(pool, [destinationId], 1);
        expect(totals.get(destinationId)).to.include({ deliveriesCount: succeeded + failed });
      }
    }
  });

  it('leave a destination that never got anything unknown, whatever its route refused', async () => {
    const owner = await makeOwner(pool, 1, 1);
    const [route] = owner.routes;
    if (!route) throw new Error('there is no route');
    await storeEvent(pool, owner, route, { receivedAt: new Date(), statuses: ['schema_failed'] });
    const destinationId = route.destinationIds[0] ?? '';
    expect(await destinationHealth(pool, destinationId, 24)).to.include({
      status: 'unknown',
      lastFailureAt: null,
      lastDeliveryAt: null,
    });
    expect((await destinationTotals(pool, [destinationId], 24)).get(destinationId)).to.deep.equal({
      successRate: null,
      avgLatency: null,
      deliveriesCount: 0,
      lastDeliveryAt: null,
    });
    expect(await routeStatistics(pool, route.id, 1)).to.include({ deliveriesFailed: 1, deliveriesSucceeded: 0 });
  });

  it('count what happened, also when its event is deleted later', async () => {
    const owner = await makeOwner(pool, 1, 1);
    const [route] = owner.routes;
    if (!route) throw new Error('there is no route');
    const event = await storeEvent(pool, owner, route, { receivedAt: new Date(), statuses: ['pending'] });
    const [delivery] = event.deliveries;
    if (delivery) await recordOutcome(pool, event, delivery, { status: 'delivered' });
    const before = await routeStatistics(pool, route.id, 24);
    await deleteEvent(pool, owner.organizationId, event.id);
    expect(await routeStatistics(pool, route.id, 24)).to.deep.equal(before);
    expect(before).to.include({ eventsRouted: 1, deliveriesSucceeded: 1 });
  });

  it('are exact while events are counted in several slots and these are folded', async () => {
    const owner = await makeOwner(pool, 1, 1);
    const [route] = owner.routes;
    if (!route) throw new Error('there is no route');
    const subjects = [route.sourceId, route.id];
    const receivedAt = new Date(Date.now() - HOUR);
    let storing = true;
    const totals = async () => {
      const found = await ingestTotals(pool, subjects);
      return subjects.map((id) => found.get(id).events);
    };
    const writers = Promise.all(
      [1, 2, 3].map(async () => {
        for (let n = 0; n < 20; n += 1) await storeEvent(pool, owner, route, { receivedAt, statuses: ['pending'] });
      }),
    ).finally(() => {
      storing = false;
    });
    let seen = [0, 0];
    while (storing) {
      await foldIngest(pool, 20_000);
      const now = await totals();
      // Nothing is counted twice or lost for a moment.
      expect(now.every((count, index) => count >= (seen[index] ?? 0) && count <= 60)).to.equal(true);
      seen = now;
    }
    await writers;
    await foldIngest(pool, 20_000);
    expect(await totals()).to.deep.equal([60, 60]);
    expect((await ingestTotals(pool, subjects)).get(route.id).lastEventAt).to.deep.equal(receivedAt);
    expect(await routeStatistics(pool, route.id, 2)).to.include({ eventsRouted: 60 });
    const { rows } = await pool.query<{ left: number; folded: number }>(
      `select (select count(*) from ingest_counts where subject_id = any($1)) as left,
              (select count(*) from ingest_stats where subject_id = any($1)) as folded`,
      [subjects],
    );
    // Of each its bucket, and its total.
    expect(rows[0]).to.deep.equal({ left: 0, folded: 4 });
  });

  it('leave what is being counted to the next fold, which waits for nobody', async () => {
    const owner = await makeOwner(pool, 1, 1);
    const [route] = owner.routes;
    if (!route) throw new Error('there is no route');
    await storeEvent(pool, owner, route, { receivedAt: new Date(Date.now() - HOUR), statuses: ['pending'] });
    const left = async () => {
      const subjects = [route.sourceId, route.id];
      const { rows } = await pool.query<{ id: string }>(
        'select subject_id as id from ingest_counts where subject_id = any($1)',
        [subjects],
      );
      return rows.map(({ id }) => id);
    };
    await inTransaction(pool, async (db) => {
      await db.query('update ingest_counts set events = events + 1 where subject_id = $1', [route.id]);
      await foldIngest(pool, 20_000);
      expect(await left()).to.deep.equal([route.id]);
    });
    await foldIngest(pool, 20_000);
    expect(await left()).to.deep.equal([]);
    expect((await ingestTotals(pool, [route.id])).get(route.id).events).to.equal(2);
  });

  it('stay what they are when old buckets are merged, from fewer rows', async () => {
    const owner = await makeOwner(pool, 1, 1);
    const [route] = owner.routes;
    if (!route) throw new Error('there is no route');
    const destinationId = route.destinationIds[0] ?? '';
    const deliver = async (ageMs: number, status: 'delivered' | 'failed', latency: number) => {
      const at = new Date(Date.now() - ageMs);
      const event = await storeEvent(pool, owner, route, { receivedAt: at, statuses: ['pending'] });
      const [delivery] = event.deliveries;
      if (delivery) await recordOutcome(pool, event, delivery, { status, latency, completedAt: at });
    };
    // Ten in the same hour of 100 hours ago, six minutes apart, and some of today.
    const oldHour = Math.floor((Date.now() - 100 * HOUR) / HOUR) * HOUR;
    for (let n = 0; n < 10; n += 1) {
      await deliver(Date.now() - (oldHour + n * 360_000), n % 3 === 0 ? 'failed' : 'delivered', 10 * (n + 1));
    }
    for (let n = 0; n < 4; n += 1) await deliver(n * HOUR, 'delivered', 7);
    const read = async () => ({
      routed: await ingestTotals(pool, [route.id]).then((totals) => totals.get(route.id)),
      day: await routeStatistics(pool, route.id, DAY_HOURS),
      month: await routeStatistics(pool, route.id, MONTH_HOURS),
      healthOfDay: await destinationHealth(pool, destinationId, DAY_HOURS),
      healthOfMonth: await destinationHealth(pool, destinationId, MONTH_HOURS),
    });
    const buckets = async () =>
      (
        await pool.query<{ rows: number }>(
          `select (select count(*) from delivery_stats where destination_id = $1) + (select count(*) from ${INGESTED} where subject_id = $2) as rows`,
          [destinationId, route.id],
        )
      ).rows[0]?.rows ?? 0;
    const before = await read();
    expect(before.month).to.include({ eventsRouted: 14, deliveriesSucceeded: 10, deliveriesFailed: 4 });
    expect(before.healthOfMonth).to.include({ p50Latency: 30, p99Latency: 100 });
    await Promise.all([foldIngest(pool, 20_000), foldIngest(pool, 20_000)]);
    expect(await read()).to.deep.equal(before);
    const rowsBefore = await buckets();
    await Promise.all([mergeBuckets(pool, 20_000), mergeBuckets(pool, 20_000)]);
    expect(await read()).to.deep.equal(before);
    expect(await buckets()).to.be.at.most(rowsBefore - 18);
    await packFigures(pool, 20_000);
    expect(await read()).to.deep.equal(before);
    // A result that comes for an hour that is merged already.
    await deliver(Date.now() - (oldHour + 600_000), 'failed', 1000);
    expect((await read()).month).to.include({ eventsRouted: 15, deliveriesFailed: 5 });
  });
});
