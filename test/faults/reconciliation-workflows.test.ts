// PostgreSQL and Temporal disagree about workflows that have nothing left to do, and about circuits.
import { expect } from 'chai';
import { circuitStatus } from '../../workflows/signals-and-queries.ts';
import { circuitWorkflowId } from '../../core/temporal/names.ts';
import { createReplays } from '../../db/replay/replay.ts';
import { arrivals, disagreements, REPAIRED_MS, WORKFLOW } from '../support/workflows/disagreements.ts';
import { pauseReconciliation, reconcileNow } from '../support/workflows/reconcile.ts';
import { onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

describe('disagreements of PostgreSQL and Temporal about workflows', function () {
  this.timeout(900_000);
  const { testInstance, records, receiver } = useHookyard({ workers: [WORKFLOW] });
  before(() => pauseReconciliation(testInstance));

  const { workflow, statusOf, lose, waitingForRetry, parked } = disagreements(() => ({
    testInstance,
    records,
    receiver,
  }));

  describe('about workflows that have nothing left to do', () => {
    const ended = (id: string) =>
      until(
        'the workflow to end',
        async () => {
          await reconcileNow(testInstance);
          return (await statusOf(id)) !== 'RUNNING';
        },
        REPAIRED_MS,
      );

    it('end those of a deleted source, whether they wait for a replay or for a retry', async () => {
      const failing = await parked(receiver.endpoint(500));
      const waiting = await waitingForRetry([500]);
      for (const { source } of [failing, waiting])
        await testInstance.client.delete(`${testInstance.base}/sources/${source.id}`);
      await ended(failing.delivery.id);
      await ended(waiting.delivery.id);
    });

    it('end those of failed deliveries that were replayed without their hearing of it', async () => {
      const { delivery, eventId } = await parked(receiver.endpoint(500, 200));
      const { deliveries } = await createReplays(testInstance.pool, {
        organizationId: testInstance.organizationId,
        eventIds: [eventId],
      });
      expect(deliveries[0]?.replacesFailed).to.equal(delivery.id);
      await ended(delivery.id);
      expect(await workflow(delivery.id).result()).to.include({ replayedAs: deliveries[0]?.id });
      await records.eventWith('delivered', eventId);
    });

    it('leave those alone that wait for a replay', async () => {
      const { delivery } = await parked(receiver.endpoint(500));
      expect((await reconcileNow(testInstance))['workflows ended']).to.equal(undefined);
      expect(await statusOf(delivery.id)).to.equal('RUNNING');
    });
  });

  describe('about circuits', () => {
    /** A route whose circuit is open, and an event that it holds. */
    async function openCircuit(answers: number[]) {
      const endpoint = receiver.endpoint(...answers);
      const pipe = await records.pipe(endpoint.url, {
        route: { circuitFailureThreshold: 1, circuitCooldownSeconds: 3600, circuitProbeSuccessThreshold: 1 },
      });
      await records.deliveryWith('failed', await records.accepted(pipe.source, '{"order":1}'));
      const eventId = await records.accepted(pipe.source, '{"order":2}');
      const held = await records.deliveryWith('circuit_open', eventId);
      // Its first look has ended: nothing of it comes after what a test plants.
      await until('the circuit to have its workflow', async () => {
        const advice = await workflow(circuitWorkflowId(pipe.route.id)).query(circuitStatus);
        return advice?.state === 'open';
      });
      return { ...pipe, endpoint, eventId, held };
    }

    it('release what is held by a circuit that is closed, or that is no more', async () => {
      for (const plant of [
        'delete from circuits where route_id = $1',
        `update circuits set state = 'closed', failure_count = 0, wake_at = null, opened_at = null where route_id = $1`,
      ]) {
        const { route, eventId } = await openCircuit([500, 200]);
        await workflow(circuitWorkflowId(route.id)).terminate('lost');
        await testInstance.pool.query(plant, [route.id]);
        expect((await reconcileNow(testInstance))['circuits woken'], plant).to.equal(1);
        await records.deliveryWith('delivered', eventId);
      }
    });

    it('give a half-open circuit its workflow back', async () => {
      const { route, eventId } = await openCircuit([500, 200]);
      await workflow(circuitWorkflowId(route.id)).terminate('lost');
      await execute(testInstance.pool)`update circuits set state = 'half_open', wake_at = null
        where route_id = ${route.id}`;
      expect((await reconcileNow(testInstance))['circuits woken']).to.equal(1);
      await records.deliveryWith('delivered', eventId);
    });

    it('continue with a delivery that was held after an attempt and whose workflow is lost, when it is released', async () => {
      const endpoint = receiver.endpoint(500, 200);
      const pipe = await records.pipe(endpoint.url, {
        destination: { retryPolicy: onceMore(5, 10) },
        route: { circuitFailureThreshold: 1, circuitCooldownSeconds: 3600 },
      });
      const eventId = await records.accepted(pipe.source, '{"order":1}');
      const { id } = await records.deliveryWith('circuit_open', eventId);
      await until('its workflow to be held', async () => {
        const { status } = await workflow(id).query<{ status: string }>('status');
        return status === 'circuit_open';
      });
      await lose(id);
      await testInstance.client.post(`/api/routes/${pipe.route.id}/reset-circuit`, {});
      await records.deliveryWith('delivered', eventId);
      expect(arrivals(endpoint)).to.deep.equal(['1', '2']);
    });
  });
});
