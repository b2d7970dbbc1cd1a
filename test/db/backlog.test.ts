import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { backlogBounds, countWaiting } from '../../db/organizations/backlog.ts';
import { queueDelivery } from '../support/database/outbox.ts';
import { useDatabase } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

describe('the backlog', () => {
  const { database } = useDatabase('backlog');

  it('counts each delivery once: new, with a workflow before its first attempt, and with one that retries', async () => {
    const { pool } = database;
    const fresh = await queueDelivery(pool);
    const behindLimit = await queueDelivery(pool, newId('dlv'), 'waiting');
    const lost = await queueDelivery(pool, newId('dlv'), 'lost');
    const retryingInTurn = await queueDelivery(pool, newId('dlv'), 'waiting');
    const retrying = { ...retryingInTurn, deliveryId: newId('dlv') };
    for (const { deliveryId, organizationId, destinationId } of [retryingInTurn, retrying]) {
      await execute(pool)`insert into retrying_deliveries (delivery_id, organization_id, destination_id)
        values (${deliveryId}, ${organizationId}, ${destinationId})`;
    }
    const { total, own, destinations } = await countWaiting(pool);
    expect(total).to.equal(5);
    const once = [fresh, behindLimit, lost].map(({ organizationId }) => [organizationId, 1]);
    expect([...own]).to.have.deep.members([...once, [retrying.organizationId, 2]]);
    expect(destinations).to.have.length(4);
    expect((await backlogBounds(pool)).atMost).to.be.at.least(total);
  });
});
