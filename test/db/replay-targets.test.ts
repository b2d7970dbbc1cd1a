// Where replays of single deliveries lead when there are many deliveries of their event.
import { expect } from 'chai';
import { replayDelivery, type TakeRoom } from '../../db/replay/replay.ts';
import { cannotValidate, EARLIER_READ } from '../../db/replay/targets.ts';
import { firstRoute, makeOwner, storeEvent } from '../support/database/history.ts';
import { copyDelivery } from '../support/workflows/many-deliveries.ts';
import { useHistoryDatabase } from '../support/use-hookyard.ts';
import { execute, selectRows } from '../support/database/sql.ts';

describe('the targets of a replay', () => {
  const { database } = useHistoryDatabase(2);

  it('are those of older deliveries too, when these are the ones to be delivered again', async () => {
    const { pool } = database;
    const owner = await makeOwner(pool, 1, 2);
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
