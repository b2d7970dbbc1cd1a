import { expect } from 'chai';
import { isOpenStatus } from '../../core/delivery/delivery.ts';
import { idFloor, newId } from '../../core/text/ids.ts';
import { openError, ownWords } from '../../core/text/error-summary.ts';
import { cancelDeliveries, postponeDelivery } from '../../db/delivery/delivery-commands.ts';
import { removeQueued } from '../../db/hot-path/claim.ts';
import { overdueDeliveries, requeueDeliveries, resumePoints } from '../../db/delivery/reconciliation.ts';
import { insertDelivery } from './fixtures.ts';
import { insertSource } from '../support/database/own-database.ts';
import { useDatabase, useMade } from '../support/use-hookyard.ts';
import { execute, selectRows } from '../support/database/sql.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

describe('what the reconciliation reads', () => {
  const { pool } = useDatabase('reconcile');
  const owner = useMade('a source', () => insertSource(pool));

  let count = 0;
  /** A delivery that was made so long ago; ids of a moment are told apart by their last characters. */
  async function delivery(
    agoMs: number,
    fields: { status?: string; attempts?: number; nextInMs?: number | null; destinationId?: string } = {},
  ): Promise<string> {
    count += 1;
    const { status = 'retrying', attempts = 1, nextInMs = -HOUR_MS, destinationId = newId('dst') } = fields;
    const id = idFloor('dlv', Date.now() - agoMs).slice(0, -4) + String(count).padStart(4, '0');
    await insertDelivery(pool, owner, {
      ...{ id, destination_id: destinationId, status, attempt_count: attempts },
      next_attempt_at: nextInMs === null ? null : new Date(Date.now() + nextInMs),
    });
    if (isOpenStatus(status)) await leftToWorkflow(id);
    return id;
  }

  const leftToWorkflow = (id: string) =>
    execute(pool)`insert into retrying_deliveries select id, organization_id, destination_id from deliveries
      where id = ${id}`;

  async function overdue(): Promise<string[]> {
    const found: string[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const look = await overdueDeliveries(pool, after, 3);
      found.push(...look.overdue.map(({ deliveryId }) => deliveryId));
      after = look.next;
    }
    return found;
  }

  it('are found also when the clock of anyone who made them is ahead or behind', async () => {
    const ahead = await delivery(-HOUR_MS);
    const waiting = await delivery(-HOUR_MS, { nextInMs: MINUTE_MS });
    const unsaid = await delivery(-HOUR_MS, { status: 'pending', attempts: 0, nextInMs: null });
    const behind = await delivery(HOUR_MS);
    expect(await overdue())
      .to.include.members([ahead, unsaid, behind])
      .and.not.to.include(waiting);
  });

  it('are those too that left the outbox before their first attempt had a result', async () => {
    const leave = {
      'to wait outside of it': (id: string) => postponeDelivery(pool, id, -HOUR_MS, true),
      'because their workflow has taken over': (id: string) =>
        removeQueued(pool, { ...owner, deliveryId: id, destinationId, priority: 0 }),
    };
    const destinationId = newId('dst');
    for (const [why, leaves] of Object.entries(leave)) {
      const id = await delivery(5 * MINUTE_MS, { status: 'pending', attempts: 0, nextInMs: null, destinationId });
      await requeueDeliveries(pool, [{ deliveryId: id, resume: 'lost' }]);
      expect(await overdue(), why).not.to.include(id);
      await leaves(id);
      expect(await overdue(), why).to.include(id);
      await cancelDeliveries(pool, { ...owner, deliveryIds: [id], reason: openError(ownWords`a test`) });
      expect(await overdue(), why).not.to.include(id);
    }
  });

  it('are not those that the database will continue with', async () => {
    const waits = await delivery(5 * MINUTE_MS, { nextInMs: MINUTE_MS });
    const justNow = await delivery(5 * MINUTE_MS, { nextInMs: -MINUTE_MS });
    const fresh = await delivery(MINUTE_MS, { status: 'pending', attempts: 0, nextInMs: null });
    const stale = await delivery(5 * MINUTE_MS, { status: 'pending', attempts: 0, nextInMs: null });
    const queued = await delivery(5 * MINUTE_MS);
    await requeueDeliveries(pool, [{ deliveryId: queued, resume: 'lost' }]);
    const held = await delivery(5 * MINUTE_MS, { status: 'circuit_open' });
    const routeId = newId('rte');
    await pool.query('update deliveries set route_id = $2 where id = $1', [held, routeId]);
    await execute(pool)`
      insert into held_deliveries (route_id, delivery_id, organization_id, event_id, source_id, destination_id,
      priority, shard, has_workflow)
      select route_id, id, organization_id, event_id, source_id, destination_id, priority, 0, true from deliveries
      where id = ${held}`;
    const found = await overdue();
    expect(found).to.include(stale);
    expect(found).to.not.include.oneOf([waits, justNow, fresh, queued, held]);
  });

  it('go back to the outbox once, and only while they are open', async () => {
    const open = await delivery(5 * MINUTE_MS, { attempts: 3 });
    const ended = await delivery(5 * MINUTE_MS, { status: 'failed' });
    const requests = [open, ended].map((deliveryId) => ({ deliveryId, resume: 'lost' as const }));
    expect([...(await requeueDeliveries(pool, requests))]).to.deep.equal([open]);
    await requeueDeliveries(pool, [{ deliveryId: open, resume: 'ended' }]);
    const rows = await selectRows(pool)`
      select delivery_id, resume from outbox where delivery_id = any(${[open, ended]})`;
    expect(rows).to.deep.equal([{ delivery_id: open, resume: 'ended' }]);
    const points = await resumePoints(pool, [open, ended]);
    expect(points.size).to.equal(1);
    expect(points.get(open)).to.deep.equal({ attempts: 3, waitMs: 0, statusCode: null, error: null });
  });
});
