// Deliveries that are held while others change their circuit: none of them is left without a probe that releases it.
import { expect } from 'chai';
import { Client, Connection } from '@temporalio/client';
import { advanceCircuit } from '../../activities/circuit.ts';
import { readSettings } from '../../core/config.ts';
import { newId } from '../../core/ids.ts';
import { createLog } from '../../core/log.ts';
import { Places } from '../../core/places.ts';
import {
  changeCircuits,
  claimDueCircuits,
  countAttempts,
  electProbe,
  loadCircuits,
  type StoredCircuit,
} from '../../db/circuits/circuits.ts';
import { divertBlocked, findHeld } from '../../db/circuits/held-deliveries.ts';
import type { Pool } from '../../db/pool.ts';
import { insertSource, type OwnDatabase, ownDatabase } from '../support/own-database.ts';
import { stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';

describe('held deliveries', () => {
  let database: OwnDatabase;
  let pool: Pool;
  let organizationId: string;
  let sourceId: string;
  before(async () => {
    database = await ownDatabase('held');
    ({ pool } = database);
    ({ organizationId, sourceId } = await insertSource(pool));
  });
  after(() => database.close());

  const destinationId = newId('dst');
  const load = async (id: string) => (await loadCircuits(pool, [id])).get(id) as StoredCircuit;

  async function count(routeId: string, success: boolean, deliveryId = newId('dlv')): Promise<void> {
    await countAttempts(pool, [{ routeId, destinationId, deliveryId, success, completedAt: new Date() }]);
  }

  /** A route whose circuit is open; two probes must succeed. */
  async function openRoute(): Promise<string> {
    const routeId = newId('rte');
    await pool.query(
      `insert into routes (id, organization_id, name, source_id, destination_ids, circuit_failure_threshold)
       values ($1, $2, 'Orders to CRM', $3, $4, 1)`,
      [routeId, organizationId, sourceId, [destinationId]],
    );
    await count(routeId, false);
    return routeId;
  }

  const endCooldown = (routeId: string) =>
    changeCircuits(pool, [routeId], () => [{ type: 'elapsed', at: Date.now() + 86_400_000 }]);

  async function delivery(routeId: string): Promise<string> {
    const [deliveryId, eventId] = [newId('dlv'), newId('evt')];
    await pool.query(
      `insert into deliveries (id, organization_id, event_id, source_id, route_id, destination_id, priority, status, counted)
       values ($1, $2, $3, $4, $5, $6, 0, 'pending', true)`,
      [deliveryId, organizationId, eventId, sourceId, routeId, destinationId],
    );
    return deliveryId;
  }

  async function hold(routeId: string): Promise<string> {
    const deliveryId = await delivery(routeId);
    const diversions = await divertBlocked(pool, [{ deliveryId, routeId, hasWorkflow: false }]);
    expect(diversions.get(deliveryId)).to.deep.equal({ status: 'held' });
    return deliveryId;
  }

  const wakeUps = async () => (await claimDueCircuits(pool, 100)).map(({ routeId }) => routeId);

  it('become the probe themselves when the circuit turned half-open before they were held', async () => {
    const routeId = await openRoute();
    await endCooldown(routeId);
    await wakeUps();
    const deliveryId = await hold(routeId);
    expect((await load(routeId)).circuit.probe?.deliveryId).to.equal(deliveryId);
    expect(await wakeUps(), 'its workflow releases it').to.include(routeId);
  });

  it('wait for the probe that is under way', async () => {
    const routeId = await openRoute();
    await endCooldown(routeId);
    const probe = await delivery(routeId);
    await electProbe(pool, routeId, probe);
    await hold(routeId);
    expect((await load(routeId)).circuit.probe?.deliveryId).to.equal(probe);
  });

  it('are looked after again at once when the probe ends during a look', async () => {
    const routeId = await openRoute();
    const [first, second] = [await hold(routeId), await hold(routeId)];
    await endCooldown(routeId);
    const connection = Connection.lazy({ address: stackAddresses().temporalAddress });
    const settings = readSettings({ LOG_LEVEL: 'silent' });
    const blocker = await pool.connect();
    try {
      // After the probe was released, a look asks for failover destinations.
      await blocker.query('begin');
      await blocker.query('lock table destinations in access exclusive mode');
      const client = new Client({ connection });
      const looking = advanceCircuit(
        { pool, client, settings, releases: new Places(1, () => true), log: createLog(settings, 'worker') },
        { routeId, reset: false },
      );
      await until('the first to be released', async () => (await findHeld(pool, routeId, first)) === undefined);
      await count(routeId, true, first);
      await blocker.query('commit');
      expect(await looking).to.include({ state: 'half_open', held: 1, probeSuccessCount: 1, waitMs: 0 });
      expect(await wakeUps()).to.include(routeId);
      expect(await findHeld(pool, routeId, second)).to.include({ deliveryId: second });
    } finally {
      blocker.release(true);
      await connection.close();
    }
  });
});
