import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import {
  changeCircuits,
  countAttemptsInCircuits,
  electProbe,
  loadCircuits,
  resetCircuit,
  type StoredCircuit,
} from '../../db/circuits/circuits.ts';
import { claimDueCircuits, setWakeTime } from '../../db/circuits/wake-ups.ts';
import { wakeCircuits, wakeForgottenHolds } from '../../db/delivery/reconciliation.ts';
import { insertRoute } from './fixtures.ts';
import { insertSource } from '../support/database/own-database.ts';
import { useDatabase, useMade } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

const PARALLEL = 16;

describe('circuits in the database', () => {
  const { pool } = useDatabase('circuits', { connections: PARALLEL });
  const owner = useMade('a source', () => insertSource(pool));

  async function route(failureThreshold: number): Promise<{ id: string; destinationId: string }> {
    const destinationId = newId('dst');
    const columns = { circuit_failure_threshold: failureThreshold };
    return { id: await insertRoute(pool, owner, [destinationId], columns), destinationId };
  }

  const attempt = (of: { id: string; destinationId: string }, success: boolean, deliveryId = newId('dlv')) => ({
    routeId: of.id,
    destinationId: of.destinationId,
    deliveryId,
    success,
    completedAt: new Date(),
  });
  const load = async (id: string) => (await loadCircuits(pool, [id])).get(id) as StoredCircuit;
  const inParallel = <T>(work: (n: number) => Promise<T>) =>
    Promise.all(Array.from({ length: PARALLEL }, (_, n) => work(n)));

  it('counts every failure when many workers count at once', async () => {
    const made = await route(1000);
    await inParallel(() => countAttemptsInCircuits(pool, [attempt(made, false), attempt(made, false)]));
    const { circuit, version } = await load(made.id);
    expect(circuit).to.include({ state: 'closed', failureCount: 2 * PARALLEL });
    expect(version, 'one write for each').to.equal(PARALLEL);
  });

  it('opens once when workers reach the threshold at the same instant', async () => {
    const made = await route(PARALLEL / 2);
    const blocked = await inParallel(() => countAttemptsInCircuits(pool, [attempt(made, false)]));
    expect(blocked.filter((routes) => routes.has(made.id)).length, 'those that counted from then on').to.equal(
      PARALLEL - PARALLEL / 2 + 1,
    );
    const { circuit } = await load(made.id);
    expect(circuit).to.include({ state: 'open', failureCount: PARALLEL });
    const claims = await inParallel(() => claimDueCircuits(pool, 100));
    expect(claims.flat().filter(({ routeId }) => routeId === made.id)).to.have.length(1);
  });

  it('ends in one of the two orders when a success and the failure that opens meet', async () => {
    for (let round = 0; round < 10; round += 1) {
      const made = await route(2);
      await countAttemptsInCircuits(pool, [attempt(made, false)]);
      await Promise.all([
        countAttemptsInCircuits(pool, [attempt(made, true)]),
        countAttemptsInCircuits(pool, [attempt(made, false)]),
      ]);
      const { state, failureCount } = (await load(made.id)).circuit;
      // The success first: one failure is left. The failure first: it opens, and the success only ends the count.
      expect(`${state} ${failureCount}`).to.be.oneOf(['closed 1', 'open 0']);
    }
  });

  it('takes the results of a group in the order in which they ended', async () => {
    const made = await route(2);
    const [first, second, third] = [attempt(made, false), attempt(made, true), attempt(made, false)];
    const at = (ms: number) => new Date(1_795_000_000_000 + ms);
    await countAttemptsInCircuits(pool, [
      { ...third, completedAt: at(3) },
      { ...second, completedAt: at(2) },
      { ...first, completedAt: at(1) },
    ]);
    expect((await load(made.id)).circuit).to.include({ state: 'closed', failureCount: 1 });
  });

  it('elects one probe, and hears of one result of it', async () => {
    const made = await route(1);
    await countAttemptsInCircuits(pool, [attempt(made, false)]);
    await changeCircuits(pool, [made.id], () => [{ type: 'elapsed', at: Date.now() + 86_400_000 }]);
    const elected = await inParallel((n) => electProbe(pool, made.id, `dlv_${n}`));
    const probes = new Set(elected.map((each) => each?.circuit.probe?.deliveryId));
    expect(probes.size).to.equal(1);
    const [probe = ''] = [...probes] as string[];
    await inParallel(() => countAttemptsInCircuits(pool, [attempt(made, true, probe)]));
    expect((await load(made.id)).circuit, 'the threshold is 2').to.include({
      state: 'half_open',
      probeSuccessCount: 1,
    });
  });

  it('ends in closed when a reset meets a probe that fails, or opens after it, and never in between', async () => {
    for (let round = 0; round < 10; round += 1) {
      const made = await route(3);
      for (let n = 0; n < 3; n += 1) await countAttemptsInCircuits(pool, [attempt(made, false)]);
      await changeCircuits(pool, [made.id], () => [{ type: 'elapsed', at: Date.now() + 86_400_000 }]);
      await electProbe(pool, made.id, 'dlv_probe');
      await Promise.all([
        resetCircuit(pool, made.id),
        countAttemptsInCircuits(pool, [attempt(made, false, 'dlv_probe')]),
      ]);
      const { state, failureCount, probe } = (await load(made.id)).circuit;
      expect(state).to.equal('closed');
      expect(failureCount).to.be.oneOf([0, 1]);
      expect(probe).to.equal(null);
    }
  });

  it('does not sleep over a change that came after the look', async () => {
    const made = await route(1);
    await countAttemptsInCircuits(pool, [attempt(made, false)]);
    const { version } = await load(made.id);
    await pool.query('update routes set circuit_cooldown_seconds = 1 where id = $1', [made.id]);
    await setWakeTime(pool, made.id, version, null);
    const claimed = await claimDueCircuits(pool, 100);
    expect(claimed.map(({ routeId }) => routeId)).to.include(made.id);
  });

  it('does not sleep over being woken after the look, by anyone who found that its workflow or what it held was forgotten', async () => {
    for (const [state, wake] of [
      ['half_open', (id: string) => wakeCircuits(pool, [id])],
      ['closed', () => wakeForgottenHolds(pool)],
    ] as const) {
      const made = await route(1);
      await execute(pool)`insert into circuits (route_id, organization_id, state, version)
        values (${made.id}, ${owner.organizationId}, ${state}, 1)`;
      await execute(pool)`
        insert into held_deliveries (route_id, delivery_id, organization_id, event_id, source_id, destination_id,
        priority, shard, has_workflow)
        values (${made.id}, ${newId('dlv')}, ${owner.organizationId}, ${newId('evt')}, ${owner.sourceId}, ${made.destinationId}, 0,
        0, false)`;
      const { version } = await load(made.id);
      expect(await wake(made.id)).to.deep.equal([made.id]);
      await setWakeTime(pool, made.id, version, null);
      const claimed = await claimDueCircuits(pool, 100);
      expect(
        claimed.map(({ routeId }) => routeId),
        state,
      ).to.include(made.id);
    }
  });
});
