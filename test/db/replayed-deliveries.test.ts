// Which deliveries were replayed: not those whose replay was skipped.
import { expect } from 'chai';
import { openError, ownWords } from '../../core/text/error-summary.ts';
import { endDeliveries } from '../../db/delivery/delivery-commands.ts';
import { type DeliveryFilter, listDeliveries } from '../../db/history/deliveries.ts';
import { createReplays } from '../../db/replay/replay.ts';
import {
  firstRoute,
  type HistoryOwner,
  makeOwner,
  recordOutcome,
  type StoredEvent,
  storeEvent,
} from '../support/database/history.ts';
import { useHistoryDatabase } from '../support/use-hookyard.ts';

const HOUR = 3_600_000;
const PAGE = { limit: 20, offset: 0 };

describe('Deliveries that were replayed', () => {
  const { pool } = useHistoryDatabase(3);
  let owner: HistoryOwner;
  beforeEach(async () => {
    owner = await makeOwner(pool, 1, 1);
  });

  /** An event whose delivery has failed. */
  async function failed(): Promise<StoredEvent> {
    const receivedAt = new Date(Date.now() - 50 * HOUR);
    const event = await storeEvent(pool, owner, firstRoute(owner), { receivedAt, statuses: ['pending'] });
    for (const delivery of event.deliveries) await recordOutcome(pool, event, delivery, { status: 'failed' });
    return event;
  }
  const replay = (events: StoredEvent[]) =>
    createReplays(pool, { organizationId: owner.organizationId, eventIds: events.map(({ id }) => id) });
  const idsOf = (event: StoredEvent) => event.deliveries.map(({ id }) => id);
  const found = async (filter: DeliveryFilter) =>
    (await listDeliveries(pool, owner.organizationId, filter, PAGE)).deliveries.map(({ id }) => id);

  it('are not those whose replay was skipped, because their destination was disabled meanwhile', async () => {
    const [skipped, replayed] = [await failed(), await failed()];
    const { deliveries } = await replay([skipped]);
    await replay([replayed]);
    await endDeliveries(pool, 'skipped', {
      organizationId: owner.organizationId,
      deliveryIds: deliveries.map(({ id }) => id),
      reason: openError(ownWords`The destination is disabled`),
    });
    for (const status of [['failed'], ['failed', 'failed_over'], ['failed', 'delivered']]) {
      expect(await found({ status, replayed: false })).to.deep.equal(idsOf(skipped));
      expect(await found({ status, replayed: true })).to.deep.equal(idsOf(replayed));
    }
  });
});
