// The statistics against the rows they count: what was deleted counts, and nothing counts twice while it is rolled up.
import { expect } from 'chai';
import { deleteEvent, deleteSource } from '../../db/delivery/deletions.ts';
import { rollUp } from '../../db/ledger/roll-up.ts';
import { destinationHealth, destinationTotals, ingestTotals, routeStatistics } from '../../db/ledger/statistics.ts';
import { purgeStep } from '../../db/operations/source-purges.ts';
import { makeOwner, recordOutcome, storeEvent, firstRoute } from '../support/database/history.ts';
import { rollUpAll } from '../support/database/roll-up.ts';
import { useHistoryDatabase } from '../support/use-hookyard.ts';
import { selectRows } from '../support/database/sql.ts';

const HOUR = 3_600_000;

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
    const rows = await selectRows<{ rolledUp: number }>(pool)`select count(*)::int as "rolledUp" from rollups
      where organization_id = ${owner.organizationId}`;
    // Of the source and its route the bucket and the total, and the day of the organization.
    expect(rows).to.deep.equal([{ rolledUp: 3 }]);
  });
});
