import { expect } from 'chai';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { advanceCircuit } from '../../activities/circuit.ts';
import { FairQueue } from '../../core/fairness/fair-queue.ts';
import { WorkflowPermits } from '../../core/fairness/workflow-permits.ts';
import { createLog } from '../../core/process/log.ts';
import { newId } from '../../core/text/ids.ts';
import {
  changeCircuits,
  countAttemptsInCircuits,
  electProbe,
  loadCircuits,
  type StoredCircuit,
} from '../../db/circuits/circuits.ts';
import { divertBlocked, findHeld } from '../../db/circuits/held-deliveries.ts';
import { pause, resume } from '../../db/circuits/pauses.ts';
import { claimDueCircuits, nextProbe } from '../../db/circuits/wake-ups.ts';
import { inTransaction } from '../../db/connections/pool.ts';
import type { OutboxRow } from '../../db/hot-path/claim.ts';
import { loadAttempts } from '../../db/hot-path/load-attempts.ts';
import { holdOrFailOver } from '../../worker/relay/round.ts';
import { insertDelivery, insertDestination, insertRoute } from './fixtures.ts';
import { insertSource } from '../support/database/own-database.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';
import { useDatabase, useMade, useStarted } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

describe('held deliveries', () => {
  const { pool } = useDatabase('held');
  const owner = useMade('a source', () => insertSource(pool));

  const destinationId = newId('dst');
  const load = async (id: string) => (await loadCircuits(pool, [id])).get(id) as StoredCircuit;

  async function count(routeId: string, success: boolean, deliveryId = newId('dlv')): Promise<void> {
    await countAttemptsInCircuits(pool, [{ routeId, destinationId, deliveryId, success, completedAt: new Date() }]);
  }

  /** A route whose circuit is open; two probes must succeed. */
  async function openRoute(): Promise<string> {
    const columns = { circuit_failure_threshold: 1 };
    const routeId = await insertRoute(pool, owner, [destinationId], columns);
    await count(routeId, false);
    return routeId;
  }

  const endCooldown = (routeId: string) =>
    changeCircuits(pool, [routeId], () => [{ type: 'elapsed', at: Date.now() + 86_400_000 }]);

  const delivery = (routeId: string) =>
    insertDelivery(pool, owner, { route_id: routeId, destination_id: destinationId });

  async function hold(routeId: string): Promise<string> {
    const deliveryId = await delivery(routeId);
    const diversions = await divertBlocked(pool, [
      { deliveryId, routeId, destinationId, inCircuit: true, hasWorkflow: false },
    ]);
    expect(diversions.get(deliveryId)).to.deep.equal({ status: 'held' });
    return deliveryId;
  }

  /** A delivery as a relay claims it. */
  const claimed = (routeId: string, deliveryId: string): OutboxRow => ({
    ...{ deliveryId, routeId, destinationId, ...owner, eventId: newId('evt') },
    ...{ priority: 0, failoverOf: null, orderHash: null, blockedBy: 'half_open', resume: null },
  });
  const connection = useStarted(async () => Connection.lazy({ address: stackAddresses().temporalAddress }));
  const log = createLog({ LOG_LEVEL: 'silent' }, 'worker');
  const workflowPermits = new WorkflowPermits({ permits: 1, alone: () => true });
  const depsWith = (releases: FairQueue) => ({
    ...{ log, pool, client: new Client({ connection }), releases, workflowPermits },
  });

  const wakeUps = async () => (await claimDueCircuits(pool, 100)).map(({ routeId }) => routeId);

  it('become the probe themselves when the circuit turned half-open before they were held', async () => {
    const routeId = await openRoute();
    await endCooldown(routeId);
    await wakeUps();
    const deliveryId = await hold(routeId);
    expect((await load(routeId)).circuit.probe?.deliveryId).to.equal(deliveryId);
    expect(await wakeUps(), 'its workflow releases it').to.include(routeId);
  });

  it('are not those that have ended: these are left to be started, and none of them is a probe', async () => {
    const routeId = await openRoute();
    await endCooldown(routeId);
    const [ended = '', open = '', later = ''] = (
      await Promise.all([delivery(routeId), delivery(routeId), delivery(routeId)])
    ).toSorted();
    await pool.query(`update deliveries set status = 'failed' where id = $1`, [ended]);
    const left = await holdOrFailOver(
      pool,
      [ended, open, later].map((deliveryId) => claimed(routeId, deliveryId)),
    );
    expect((await load(routeId)).circuit.probe?.deliveryId).to.equal(open);
    expect(left.map(({ deliveryId }) => deliveryId)).to.deep.equal([ended, open]);
    expect(await findHeld(pool, routeId, later)).to.include({ deliveryId: later });
  });

  it('are none to a destination that the route does not lead to any more: these are started, and count for nothing', async () => {
    const routeId = await openRoute();
    await endCooldown(routeId);
    const deliveryId = await delivery(routeId);
    await pool.query('update routes set destination_ids = $2 where id = $1', [routeId, [newId('dst')]]);
    const row = claimed(routeId, deliveryId);
    expect(await holdOrFailOver(pool, [row])).to.deep.equal([row]);
    const { circuit } = await load(routeId);
    expect(circuit).to.include({ state: 'half_open', probe: null });
    const loaded = (await loadAttempts(pool, [row])).get(deliveryId);
    expect(loaded).to.include({ inCircuit: false, blocked: false });
    await count(routeId, false, deliveryId);
    expect((await load(routeId)).circuit).to.deep.equal(circuit);
  });

  for (const [what, change] of [
    ['is disabled', 'enabled = false'],
    ['has more waiting than its rate limit lets go in a minute', 'rate_limit_per_minute = 1'],
  ] as const) {
    it(`become the probe after those to other destinations, when their destination ${what}`, async () => {
      const routeId = await openRoute();
      const slow = await insertDestination(pool, owner.organizationId);
      await execute(pool)`update routes set destination_ids = destination_ids || ${slow}::text where id = ${routeId}`;
      const first = await hold(routeId);
      await pool.query('update held_deliveries set destination_id = $2 where delivery_id = $1', [first, slow]);
      const second = await hold(routeId);
      expect(await nextProbe(pool, routeId)).to.equal(first);
      await pool.query(`update destinations set ${change} where id = $1`, [slow]);
      await execute(pool)`
        insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, priority, shard)
        values (${newId('dlv')}, ${slow}, ${owner.organizationId}, ${newId('evt')}, ${owner.sourceId}, 0, 0)`;
      expect(await nextProbe(pool, routeId)).to.equal(second);
      await pool.query('delete from held_deliveries where delivery_id = $1', [second]);
      expect(await nextProbe(pool, routeId)).to.equal(first);
    });
  }

  describe('beside one that does not count in the circuit', () => {
    let routeId: string;
    beforeEach(async () => {
      routeId = await openRoute();
      await pause(pool, 'routes', { ...owner, id: routeId }, { until: null, reason: null });
      // As what a failover destination has taken over: it waited for the end of the pause only.
      const deliveryId = await delivery(routeId);
      await divertBlocked(pool, [{ deliveryId, routeId, destinationId, inCircuit: false, hasWorkflow: false }]);
      await endCooldown(routeId);
      await resume(pool, { ...owner, id: routeId }, null);
    });

    it('become the probe, although it waits longer', async () => {
      const deliveryId = await hold(routeId);
      expect((await load(routeId)).circuit).to.include({ state: 'half_open' });
      expect((await load(routeId)).circuit.probe?.deliveryId).to.equal(deliveryId);
    });

    it('are not there, so that a new one becomes the probe', async () => {
      const deliveryId = await delivery(routeId);
      const left = await holdOrFailOver(pool, [claimed(routeId, deliveryId)]);
      expect(left.map((row) => row.deliveryId)).to.deep.equal([deliveryId]);
      expect((await load(routeId)).circuit.probe?.deliveryId).to.equal(deliveryId);
    });
  });

  it('are looked after again at once when the probe ends during a look', async () => {
    const routeId = await openRoute();
    const [first, second] = [await hold(routeId), await hold(routeId)];
    await endCooldown(routeId);
    await electProbe(pool, routeId, first);
    let looking: ReturnType<typeof advanceCircuit> | undefined;
    await inTransaction(pool, async (blocker) => {
      // After the probe was released, a look asks for failover destinations.
      await blocker.query('lock table destinations in access exclusive mode');
      looking = advanceCircuit(depsWith(new FairQueue(1)), { ...owner, routeId, reset: false });
      await until('the first to be released', async () => (await findHeld(pool, routeId, first)) === undefined);
      await count(routeId, true, first);
    });
    expect(await looking).to.include({ state: 'half_open', held: 1, probeSuccessCount: 1, waitMs: 0 });
    expect(await wakeUps()).to.include(routeId);
    expect(await findHeld(pool, routeId, second)).to.include({ deliveryId: second });
  });

  it('are kept by a circuit that opens again after its reset, however long it waits for a slot', async () => {
    const routeId = await openRoute();
    await hold(routeId);
    const releases = new FairQueue(1);
    releases.enter(owner.organizationId);
    const deps = depsWith(releases);
    /** As Temporal makes it. */
    const look = (reset: boolean) =>
      asyncLocalStorage.run({ info: { attempt: 1 } } as Context, () =>
        advanceCircuit(deps, { ...owner, routeId, reset }),
      );
    const closed = { state: 'closed', held: 1, waitMs: 0 };
    expect(await look(true), 'a look that ends: nothing repeats the reset').to.deep.equal(closed);
    expect(await look(false).catch((error: unknown) => error)).to.include({ type: 'TurnOfOthers' });
    await count(routeId, false);
    expect(await look(false)).to.include({ state: 'open', held: 1 });
  });
});
