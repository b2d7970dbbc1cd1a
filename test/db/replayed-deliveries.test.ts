import { expect } from 'chai';
import { openError, ownWords } from '../../core/text/error-summary.ts';
import { endDeliveries } from '../../db/delivery/delivery-commands.ts';
import { type DeliveryFilter, listDeliveries } from '../../db/history/deliveries.ts';
import { createReplays, replayDelivery, type TakeRoom } from '../../db/replay/replay.ts';
import { cannotValidate, EARLIER_READ } from '../../db/replay/targets.ts';
import { firstRoute, makeOwner, recordOutcome, type StoredEvent, storeEvent } from '../support/database/history.ts';
import { copyDelivery } from '../support/workflows/many-deliveries.ts';
import { useEach, useHistoryDatabase } from '../support/use-hookyard.ts';
import { execute, selectRows } from '../support/database/sql.ts';

const HOUR = 3_600_000;
const PAGE = { limit: 20, offset: 0 };

describe('Deliveries that were replayed', () => {
  const { pool } = useHistoryDatabase(3);
  const owner = useEach(() => makeOwner(pool, 1, 2));

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

  it('are those of older deliveries too, however many their event has, when these are to be delivered again', async () => {
    const { organizationId } = owner;
    const route = firstRoute(owner);
    const receivedAt = new Date(Date.now() - 60_000);
    const event = await storeEvent(pool, owner, route, { receivedAt, statuses: ['pending', 'pending'] });
    const [often = '', once = ''] = event.deliveries.map(({ id }) => id);
    await pool.query(`update deliveries set status = 'failed', finished_at = now() where event_id = $1`, [event.id]);
    await execute(pool)`update events set status = 'failed', deliveries_failed = deliveries_count where id = ${event.id}
      and organization_id = ${organizationId}`;
    await copyDelivery(pool, often, EARLIER_READ + 1, receivedAt.getTime() + 2000);
    const room: TakeRoom = () => () => undefined;
    const again = (id: string) => replayDelivery(pool, organizationId, id, cannotValidate, room);
    const results = await Promise.allSettled([again(once), again(once)]);
    const [made] = results.flatMap((result) => (result.status === 'fulfilled' ? (result.value?.deliveries ?? []) : []));
    expect(results.map(({ status }) => status).toSorted()).to.deep.equal(['fulfilled', 'rejected']);
    expect(made?.replacesFailed).to.equal(once);
    const counts = await selectRows(pool)`select deliveries_count as count, deliveries_failed as failed from events
      where id = ${event.id}`;
    expect(counts).to.deep.equal([{ count: 2, failed: 1 }]);
    const chain = await selectRows(pool)`select id, counted, replay_of from deliveries
      where id = any(${[once, made?.id]}) order by id`;
    expect(chain).to.deep.equal([
      { id: once, counted: false, replay_of: null },
      { id: made?.id, counted: true, replay_of: once },
    ]);
  });
});
