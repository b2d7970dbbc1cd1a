import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { changeCircuits, countAttemptsInCircuits, electProbe, loadCircuits } from '../../db/circuits/circuits.ts';
import {
  divertBlocked,
  endHold,
  type HeldDelivery,
  heldOutsideCircuit,
  oldestHeld,
} from '../../db/circuits/held-deliveries.ts';
import { pause, resume } from '../../db/circuits/pauses.ts';
import { claimDueCircuits } from '../../db/circuits/wake-ups.ts';
import { insertDelivery, insertDestination, insertRoute } from './fixtures.ts';
import { insertSource } from '../support/database/own-database.ts';
import { useDatabase, useMade } from '../support/use-hookyard.ts';
import { setFailover } from '../support/rows.ts';
import { execute } from '../support/database/sql.ts';

const LASTING = { until: null, reason: null };

describe('pauses in the database', () => {
  const { pool } = useDatabase('pauses');
  const owner = useMade('a source', () => insertSource(pool));

  const destination = () => insertDestination(pool, owner.organizationId);
  const delivery = (routeId: string | null, destinationId: string, failoverOf: string | null = null) =>
    insertDelivery(pool, owner, {
      ...{ route_id: routeId, destination_id: destinationId, failover_of: failoverOf },
      original_destination_id: failoverOf && 'dst_first',
    });
  const made = async () => {
    const destinationId = await destination();
    return { destinationId, routeId: await insertRoute(pool, owner, [destinationId]) };
  };
  const pauseRoute = (id: string) => pause(pool, 'routes', { ...owner, id }, LASTING);
  const pauseDestination = (id: string) => pause(pool, 'destinations', { ...owner, id }, LASTING);

  it('leave the state of a circuit as it is, count failures, and elect no probe', async () => {
    const { routeId, destinationId } = await made();
    const state = async () => (await loadCircuits(pool, [routeId])).get(routeId);
    await pauseRoute(routeId);
    const failed = { routeId, destinationId, success: false, completedAt: new Date() };
    const blocked = await countAttemptsInCircuits(pool, [{ ...failed, deliveryId: newId('dlv') }]);
    expect([...blocked], 'a failed attempt waits for no retry').to.deep.equal([routeId]);
    expect(await state())
      .to.deep.include({ isPaused: true })
      .and.to.have.nested.property('circuit.failureCount', 1);
    await pool.query(`update circuits set state = 'half_open', version = version + 1 where route_id = $1`, [routeId]);
    const probe = await electProbe(pool, routeId, newId('dlv'));
    expect(probe?.circuit).to.include({ state: 'half_open', probe: null });
    await resume(pool, { ...owner, id: routeId }, null);
    expect(await state())
      .to.deep.include({ isPaused: false })
      .and.to.have.nested.property('circuit.state', 'half_open');
    expect((await electProbe(pool, routeId, 'dlv_next'))?.circuit.probe?.deliveryId).to.equal('dlv_next');
  });

  it('hold deliveries under what is paused, the route first, and never hand one over', async () => {
    const { routeId, destinationId } = await made();
    const backup = await destination();
    await setFailover(pool, routeId, backup);
    const [primary, failover, alone] = [
      await delivery(routeId, destinationId),
      await delivery(routeId, destinationId, newId('dlv')),
      await delivery(null, destinationId),
    ];
    await pauseRoute(routeId);
    await pauseDestination(destinationId);
    const rows = [
      { deliveryId: primary, routeId, destinationId, inCircuit: true, hasWorkflow: false },
      { deliveryId: failover, routeId, destinationId, inCircuit: false, hasWorkflow: false },
      { deliveryId: alone, routeId: null, destinationId, inCircuit: true, hasWorkflow: false },
    ];
    const diverted = await divertBlocked(pool, rows);
    expect([...diverted]).to.have.deep.members([
      [primary, { status: 'held', pausedBy: 'route' }],
      [failover, { status: 'held', pausedBy: 'route' }],
      [alone, { status: 'held', pausedBy: 'destination' }],
    ]);
    const under = async (id: string) => (await oldestHeld(pool, id, { limit: 10 })).map(({ deliveryId }) => deliveryId);
    expect(await under(routeId)).to.deep.equal([primary, failover].toSorted());
    expect(await under(destinationId)).to.deep.equal([alone]);
    const outside = await heldOutsideCircuit(pool, routeId, 10);
    expect(outside.map(({ deliveryId }) => deliveryId)).to.deep.equal([failover]);

    const release = (id: string, held: HeldDelivery[]) =>
      endHold(
        pool,
        id,
        held.map((each) => ({ ...each, queue: true })),
      );
    await release(routeId, outside);
    await release(destinationId, await oldestHeld(pool, destinationId, { limit: 10 }));
    expect(await under(routeId)).to.deep.equal([primary]);
    const outbox = await execute(pool)`select delivery_id as id, route_id as "routeId",
      failover_of is not null as "isFailover" from outbox where destination_id = ${destinationId} order by 1`;
    expect(outbox.rows).to.have.deep.members([
      { id: failover, routeId, isFailover: true },
      { id: alone, routeId: null, isFailover: false },
    ]);
  });

  it('take what waits for a destination from the circuit of its route, which elects another probe', async () => {
    const { routeId, destinationId } = await made();
    const [other, backup] = [await destination(), await destination()];
    await pool.query('update routes set destination_ids = destination_ids || $2::text where id = $1', [routeId, other]);
    await changeCircuits(pool, [routeId], () => [
      ...Array.from({ length: 5 }, () => ({ type: 'failed', deliveryId: 'dlv_failed', at: 1 }) as const),
      { type: 'elapsed', at: Date.now() + 86_400_000 },
    ]);
    const divert = async (deliveryId: string, to: string) =>
      (await divertBlocked(pool, [{ deliveryId, routeId, destinationId: to, inCircuit: true, hasWorkflow: true }])).get(
        deliveryId,
      );
    const [first, second] = [await delivery(routeId, destinationId), await delivery(routeId, other)];
    expect(await divert(first, destinationId)).to.deep.equal({ status: 'held' });
    const circuit = async () => (await loadCircuits(pool, [routeId])).get(routeId)?.circuit;
    expect((await circuit())?.probe?.deliveryId).to.equal(first);
    await claimDueCircuits(pool, 100);
    await pauseDestination(destinationId);
    await setFailover(pool, routeId, backup);
    await claimDueCircuits(pool, 100);
    expect(await divert(first, destinationId)).to.deep.equal({ status: 'held', pausedBy: 'destination' });
    expect(await circuit()).to.include({ state: 'half_open', probe: null });
    expect((await claimDueCircuits(pool, 100)).map((due) => due.routeId)).to.include(routeId);
    await pool.query(`update routes set failover_destination_ids = '{}' where id = $1`, [routeId]);
    expect(await divert(second, other)).to.deep.equal({ status: 'held' });
    expect((await circuit())?.probe?.deliveryId).to.equal(second);
    const holders = await execute(pool)`select route_id, delivery_id from held_deliveries
      where delivery_id in (${first}, ${second})`;
    expect(holders.rows).to.have.deep.members([
      { route_id: destinationId, delivery_id: first },
      { route_id: routeId, delivery_id: second },
    ]);
  });

  it('are not lost to a writer of the circuit that read it before', async () => {
    const { routeId, destinationId } = await made();
    await changeCircuits(pool, [routeId], () => [{ type: 'failed', deliveryId: newId('dlv'), destinationId, at: 1 }]);
    await Promise.all([
      pauseRoute(routeId),
      ...Array.from({ length: 10 }, () =>
        countAttemptsInCircuits(pool, [
          { routeId, destinationId, deliveryId: newId('dlv'), success: false, completedAt: new Date() },
        ]),
      ),
    ]);
    const after = (await loadCircuits(pool, [routeId])).get(routeId);
    expect(after).to.include({ isPaused: true });
    expect(after?.circuit.failureCount).to.equal(11);
  });
});
