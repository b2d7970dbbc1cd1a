// PostgreSQL and Temporal disagree, each case planted on real servers: the reconciliation finds and repairs it. It runs
// every two minutes; here it is run when the disagreement is there, and may take REPAIRED_MS. Of workflows without
// work, and of circuits: reconciliation-workflows.test.ts.
import { expect } from 'chai';
import { arrivals, disagreements, WORKFLOW } from '../support/workflows/disagreements.ts';
import { makeOverdue, pauseReconciliation, reconcileNow } from '../support/workflows/reconcile.ts';
import { type DeliveryView, onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

describe('disagreements of PostgreSQL and Temporal', function () {
  this.timeout(900_000);
  const { testInstance, records, receiver } = useHookyard({ workers: [WORKFLOW] });
  before(() => pauseReconciliation(testInstance));

  const { workflow, lose, waitingForRetry, parkedWorkflow, repairedUntil } = disagreements(() => ({
    testInstance,
    records,
    receiver,
  }));

  for (const lane of ['workflow', 'express'] as const) {
    it(`continue with the next attempt when Temporal has lost the workflow of a retry (lane ${lane})`, async () => {
      const { endpoint, delivery } = await waitingForRetry([500, 500, 200], { route: { lane } });
      await workflow(delivery.id).signal('retryNow');
      await until('the second attempt', async () => (await records.delivery(delivery.id)).attemptCount === 2);
      await lose(delivery.id);
      expect((await reconcileNow(testInstance))['deliveries resumed'], 'before its time').to.equal(undefined);
      await makeOverdue(testInstance, delivery.id);
      expect((await reconcileNow(testInstance))['deliveries resumed']).to.equal(1);
      const { attempts } = await records.deliveryWith('delivered', delivery.eventId);
      expect(attempts.map(({ attemptNumber }) => attemptNumber)).to.deep.equal([1, 2, 3]);
      expect(arrivals(endpoint)).to.deep.equal(['1', '2', '3']);
      await records.workflowsEnd([delivery.id]);
      expect(testInstance.logs()).to.include('repaired: deliveries resumed').and.to.include(delivery.id);
    });
  }

  it('fail with a reason when someone terminated the workflow of a retry', async () => {
    const { endpoint, delivery } = await waitingForRetry([500, 200]);
    await workflow(delivery.id).terminate('by an operator');
    await makeOverdue(testInstance, delivery.id);
    expect((await reconcileNow(testInstance))['deliveries failed']).to.equal(1);
    const failed = await records.delivery(delivery.id);
    expect(failed).to.include({
      status: 'failed',
      error: 'The workflow was terminated or cancelled in Temporal before the next attempt',
    });
    expect((await records.event(delivery.eventId)).status).to.equal('failed');
    expect(endpoint.requests).to.have.length(1);
    expect((await reconcileNow(testInstance))['deliveries failed'], 'once').to.equal(undefined);
  });

  it('tell a retry of its turn under a rate limit whose row has left the outbox', async () => {
    const { delivery } = await waitingForRetry([500, 200], { destination: { rateLimitPerMinute: 60 } });
    const setSlot = (at: string) => testInstance.pool.query('update rate_limits set next_at = $1', [at]);
    await setSlot('tomorrow');
    await workflow(delivery.id).signal('retryNow');
    const lost = `delete from outbox where delivery_id = $1 and resume = 'waiting'`;
    await until('its turn to be lost', async () => (await testInstance.pool.query(lost, [delivery.id])).rowCount === 1);
    await setSlot('now');
    await makeOverdue(testInstance, delivery.id);
    await repairedUntil('delivered', delivery.id);
  });

  it('make no attempt of a delivery that is late and whose workflow waits for the time of it', async () => {
    const { endpoint, delivery } = await waitingForRetry([500, 200]);
    await makeOverdue(testInstance, delivery.id);
    expect(await reconcileNow(testInstance), 'it may wait for its turn').to.deep.equal({ 'workflows signalled': 1 });
    expect((await records.delivery(delivery.id)).status).to.equal('retrying');
    expect(endpoint.requests).to.have.length(1);
    await testInstance.client.post(`/api/deliveries/${delivery.id}/cancel`, {});
  });

  describe('because PostgreSQL was restored and is older than Temporal', () => {
    /** Takes back what was recorded of a delivery, but for so many attempts. */
    async function takeBack({ id, eventId }: DeliveryView, status: string, attempts: number): Promise<void> {
      await execute(testInstance.pool)`with event as (
          update events set deliveries_succeeded = 0, deliveries_failed = 0, status = 'pending' where id = ${eventId}
        ), made as (
          delete from attempts where delivery_id = ${id} and attempt_number > ${attempts}
        )
        update deliveries
        set status = ${status}, attempt_count = ${attempts}, finished_at = null, delivered_at = null, error = null,
               next_attempt_at = case when ${attempts} > 0 then now() - interval '1 hour' end
        where id = ${id}`;
    }

    const queueAgain = (id: string) =>
      execute(testInstance.pool)`
        insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority,
        shard)
        select id, destination_id, organization_id, event_id, source_id, route_id, priority, 0 from deliveries
        where id = ${id}`;

    it('make an attempt again whose workflow has ended as delivered', async () => {
      const { endpoint, delivery } = await waitingForRetry([500, 200]);
      await workflow(delivery.id).signal('retryNow');
      await records.deliveryWith('delivered', delivery.eventId);
      await records.workflowsEnd([delivery.id]);
      await takeBack(delivery, 'retrying', 1);
      expect((await reconcileNow(testInstance))['deliveries started again']).to.equal(1);
      await records.deliveryWith('delivered', delivery.eventId);
      expect(arrivals(endpoint)).to.deep.equal(['1', '2', '2']);
    });

    it('end a workflow that waits for a replay, and continue with its delivery', async () => {
      const endpoint = receiver.endpoint(500, 500, 200);
      const retryPolicy = onceMore(1, 10);
      const sent = await records.deliver(endpoint.url, '{"order":1}', 'failed', { destination: { retryPolicy } });
      await parkedWorkflow(sent.delivery.id);
      await takeBack(sent.delivery, 'retrying', 1);
      expect((await reconcileNow(testInstance))['workflows signalled']).to.equal(1);
      await records.workflowsEnd([sent.delivery.id]);
      await repairedUntil('delivered', sent.delivery.id);
      expect(arrivals(endpoint)).to.deep.equal(['1', '2', '2']);
    });

    it('make the first attempt again of what is in the outbox and has a workflow that ended', async () => {
      const endpoint = receiver.endpoint();
      const sent = await records.deliver(endpoint.url, '{"order":1}', 'delivered');
      await records.workflowsEnd([sent.delivery.id]);
      await takeBack(sent.delivery, 'pending', 0);
      await queueAgain(sent.delivery.id);
      await records.deliveryWith('delivered', sent.eventId);
      expect(arrivals(endpoint)).to.deep.equal(['1', '1']);
    });

    it('let a workflow continue to which its delivery in the outbox belongs', async () => {
      const { endpoint, delivery } = await waitingForRetry([500, 200]);
      await takeBack(delivery, 'pending', 0);
      await queueAgain(delivery.id);
      await until('the outbox to be empty', async () => (await records.queued()) === 0);
      await workflow(delivery.id).signal('retryNow');
      await records.deliveryWith('delivered', delivery.eventId);
      expect(arrivals(endpoint)).to.deep.equal(['1', '2']);
    });
  });
});
