// The statistics against the rows they count: after all that happens to deliveries, and before and after old buckets
// are merged.
import { expect } from 'chai';
import { deleteEvent, deleteSource } from '../../db/delivery/deletions.ts';
import { rollUp } from '../../db/ledger/roll-up.ts';
import { destinationHealth, destinationTotals, ingestTotals, routeStatistics } from '../../db/ledger/statistics.ts';
import { purgeStep } from '../../db/operations/source-purges.ts';
import { makeOwner, recordOutcome, storeEvent, firstRoute } from '../support/database/history.ts';
import { mergeAll, rollUpAll } from '../support/database/roll-up.ts';
import { useHistoryDatabase } from '../support/use-hookyard.ts';

const HOUR = 3_600_000;
const DAY_HOURS = 24;
const MONTH_HOURS = 720;

describe('Statistics of history', () => {
  const { pool } = useHistoryDatabase(6);

  it('count what happened, also when its event is deleted later, and those of a destination when the source is', async () => {
    const owner = await makeOwner(pool, 1, 1);
    const route = firstRoute(owner);
    const event = await storeEvent(pool, owner, route, { receivedAt: new Date(), statuses: ['pending'] });
    const [delivery] = event.deliveries;
    if (delivery) await recordOutcome(pool, event, delivery, { status: 'delivered' });
    const before = await routeStatistics(pool, route.id, 24);
    await deleteEvent(pool, owner.organizationId, event.id);
    expect(await routeStatistics(pool, route.id, 24)).to.deep.equal(before);
    expect(before).to.include({ eventsRouted: 1, deliveriesSucceeded: 1 });
    await rollUpAll(pool);
    await deleteSource(pool, owner.organizationId, route.sourceId);
    while ((await purgeStep(pool, route.sourceId)) !== null);
    const destinationId = route.destinationIds[0] ?? '';
    expect(await destinationHealth(pool, destinationId, 24)).to.include({ successfulDeliveries: 1, status: 'healthy' });
    expect((await destinationTotals(pool, [destinationId], 24)).get(destinationId).deliveriesCount).to.equal(1);
  });

  it('are exact while events are counted and rolled up', async () => {
    const owner = await makeOwner(pool, 1, 1);
    const route = firstRoute(owner);
    const receivedAt = new Date(Date.now() - HOUR);
    let storing = true;
    const routed = () => ingestTotals(pool, owner.organizationId, 'route', [route.id]).then((all) => all.get(route.id));
    const totals = async () => [
      (await ingestTotals(pool, owner.organizationId, 'source', [route.sourceId])).get(route.sourceId).events,
      (await routed()).events,
    ];
    const writers = Promise.all(
      [1, 2, 3].map(async () => {
        for (let n = 0; n < 20; n += 1) await storeEvent(pool, owner, route, { receivedAt, statuses: ['pending'] });
      }),
    ).finally(() => {
      storing = false;
    });
    let seen = [0, 0];
    while (storing) {
      await rollUp(pool);
      const now = await totals();
      // Nothing is counted twice or lost for a moment.
      expect(now.every((count, index) => count >= (seen[index] ?? 0) && count <= 60)).to.equal(true);
      seen = now;
    }
    await writers;
    await rollUpAll(pool);
    expect(await totals()).to.deep.equal([60, 60]);
    expect((await routed()).lastEventAt).to.deep.equal(receivedAt);
    expect(await routeStatistics(pool, route.id, 2)).to.include({ eventsRouted: 60 });
    const { rows } = await pool.query<{ rolledUp: number }>(
      `select count(*)::int as "rolledUp" from rollups where organization_id = $1`,
      [owner.organizationId],
    );
    // Of the source and its route the bucket and the total, and the day of the organization.
    expect(rows).to.deep.equal([{ rolledUp: 3 }]);
  });

  it('stay what they are when they are rolled up, and old buckets are merged', async () => {
    const owner = await makeOwner(pool, 1, 1);
    const route = firstRoute(owner);
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
      routed: await ingestTotals(pool, owner.organizationId, 'route', [route.id]).then((totals) =>
        totals.get(route.id),
      ),
      day: await routeStatistics(pool, route.id, DAY_HOURS),
      month: await routeStatistics(pool, route.id, MONTH_HOURS),
      healthOfDay: await destinationHealth(pool, destinationId, DAY_HOURS),
      healthOfMonth: await destinationHealth(pool, destinationId, MONTH_HOURS),
    });
    const buckets = async (condition = 'true') =>
      (
        await pool.query<{ rows: number }>(
          `select count(*)::int as rows from rollups where organization_id = $1 and ${condition}`,
          [owner.organizationId],
        )
      ).rows[0]?.rows ?? 0;
    const before = await read();
    expect(before.month).to.include({ eventsRouted: 14, deliveriesSucceeded: 10, deliveriesFailed: 4 });
    expect(before.healthOfMonth).to.include({ p50Latency: 30, p99Latency: 100 });
    await Promise.all([rollUpAll(pool), rollUpAll(pool)]);
    expect(await read()).to.deep.equal(before);
    // As they are a day after they were counted.
    await pool.query(
      `update rollups set step = 300, bucket = bucket + interval '10 minutes' where step = 3600 and organization_id = $1`,
      [owner.organizationId],
    );
    const rowsBefore = await buckets();
    await Promise.all([mergeAll(pool), mergeAll(pool)]);
    expect(await buckets("step = 300 and bucket < now() - interval '27 hours'")).to.equal(0);
    expect(await read()).to.deep.equal(before);
    expect(await buckets()).to.equal(rowsBefore);
    // A result that comes for an hour that is merged already.
    await deliver(Date.now() - (oldHour + 600_000), 'failed', 1000);
    expect((await read()).month).to.include({ eventsRouted: 15, deliveriesFailed: 5 });
  });
});
