// PostgreSQL and Temporal disagree, each case planted on real servers: the reconciliation finds and repairs it. It runs every two
// minutes; here it is run when the disagreement is there, and may take REPAIRED_MS.
import { expect } from 'chai';
import { circuitStatus } from '../../workflows/messages.ts';
import { circuitWorkflowId } from '../../core/workflow-names.ts';
import { resumeOrganization, suspendOrganization } from '../../db/organizations/suspension.ts';
import { createReplays } from '../../db/replay/replay.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { type Endpoint, type Receiver, startReceiver } from '../support/receiver.ts';
import { forgetWorkflow, makeOverdue, pauseReconciliation, reconcileNow } from '../support/reconcile.ts';
import { type DeliveryView, onceMore, Records } from '../support/records.ts';
import { until } from '../support/until.ts';

const REPAIRED_MS = 180_000;
const HOUR_MS = 3_600_000;
// Most of what is planted here is of workflows that made the first attempt; both lanes leave the same behind afterwards.
const WORKFLOW = { HOOKYARD_LANE: 'workflow' };

describe('disagreements of PostgreSQL and Temporal', function () {
  this.timeout(900_000);
  let testInstance: OwnHookyard;
  let records: Records;
  let receiver: Receiver;
  before(async () => {
    [testInstance, receiver] = await Promise.all([startHookyard(), startReceiver()]);
    records = new Records(testInstance);
    await testInstance.startWorker(WORKFLOW);
    await pauseReconciliation(testInstance);
  });
  after(async () => {
    await testInstance.close();
    await receiver.close();
  });

  const workflow = (id: string) => testInstance.temporal.workflow.getHandle(id);
  const statusOf = async (id: string) => (await workflow(id).describe()).status.name;

  /** Waits until Temporal does not know a workflow any more. */
  async function lose(id: string): Promise<void> {
    await forgetWorkflow(testInstance, id);
    await until('Temporal to forget it', async () =>
      workflow(id)
        .describe()
        .then(
          () => false,
          (error: unknown) => error instanceof Error && error.name === 'WorkflowNotFoundError',
        ),
    );
  }

  async function waitingForRetry(
    answers: number[],
    fields: Parameters<Records['pipe']>[1] = {},
  ): Promise<{ endpoint: Endpoint; delivery: DeliveryView; source: { id: string } }> {
    const endpoint = receiver.endpoint(...answers);
    const destination = { retryPolicy: onceMore(5, HOUR_MS), ...fields.destination };
    const sent = await records.deliver(endpoint.url, '{"order":1}', 'retrying', { ...fields, destination });
    await until('its workflow to wait', async () => (await records.workflowStatus(sent.delivery.id)) === 'RUNNING');
    return { endpoint, delivery: sent.delivery, source: sent.source };
  }

  /** A delivery that has failed, and whose workflow waits for a replay. */
  async function parked(endpoint: Endpoint) {
    const sent = await records.deliver(endpoint.url, '{"order":1}', 'failed');
    await parkedWorkflow(sent.delivery.id);
    return sent;
  }

  const parkedWorkflow = (id: string) =>
    until('its workflow to be listed as failed', async () => {
      for await (const { workflowId } of testInstance.temporal.workflow.list({
        query: `DeliveryStatus = "failed" and ExecutionStatus = "Running" and WorkflowId = "${id}"`,
      })) {
        return workflowId === id;
      }
      return false;
    });

  const arrivals = ({ requests }: Endpoint) => requests.map(({ headers }) => headers['x-hookyard-attempt']);

  /** Reconciles again and again until a delivery has ended. */
  const repairedUntil = (status: string, deliveryId: string) =>
    until(
      `the delivery to be ${status}`,
      async () => {
        await reconcileNow(testInstance);
        const delivery = await records.delivery(deliveryId);
        if (delivery.status !== status) throw new Error(`it is ${delivery.status} (${delivery.error})`);
        return delivery;
      },
      REPAIRED_MS,
    );

  for (const lane of ['workflow', 'express'] as const) {
    it(`go on with the next attempt when Temporal has lost the workflow of a retry (lane ${lane})`, async () => {
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

  it('wait for the time of the next attempt when they are resumed before it', async () => {
    const { endpoint, delivery } = await waitingForRetry([500, 200]);
    await lose(delivery.id);
    const { rows } = await testInstance.pool.query<{ at: Date }>(
      `with again as (
         insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority, shard, resume)
         select id, destination_id, organization_id, event_id, source_id, route_id, priority, 0, 'lost' from deliveries where id = $1)
       select next_attempt_at as at from deliveries where id = $1`,
      [delivery.id],
    );
    await until('its workflow to run again', async () => (await statusOf(delivery.id)) === 'RUNNING');
    const view = await until('it to wait', async () => {
      const status = await workflow(delivery.id).query<{ nextAttemptAt: string | null; attempts: number }>('status');
      return status.nextAttemptAt === null ? null : status;
    });
    expect(view.attempts).to.equal(1);
    expect(new Date(view.nextAttemptAt ?? 0).getTime()).to.be.closeTo(rows[0]?.at.getTime() ?? 0, 60_000);
    await until('the outbox to be empty', async () => (await records.queued()) === 0);
    await testInstance.client.post(`/api/deliveries/${delivery.id}/retry`, {});
    await records.deliveryWith('delivered', delivery.eventId);
    expect(arrivals(endpoint)).to.deep.equal(['1', '2']);
  });

  it('fail with a reason when someone terminated the workflow of a retry', async () => {
    const { endpoint, delivery } = await waitingForRetry([500, 200]);
    await workflow(delivery.id).terminate('by an operator');
    await makeOverdue(testInstance, delivery.id);
    expect((await reconcileNow(testInstance))['deliveries failed']).to.equal(1);
    const failed = await records.delivery(delivery.id);
    expect(failed).to.include({
      status: 'failed',
      error: 'Its workflow was ended in Temporal before the next attempt',
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

  /** A retry that has queued for its turn among those of its organization, which is no longer suspended; its turn was lost. */
  async function turnLost() {
    const { pool, organizationId } = testInstance;
    const { endpoint, delivery } = await waitingForRetry([500, 200]);
    const lines = (words: string) => testInstance.logs().split(words).length;
    const [begun, ended] = ['organizations are suspended', 'no longer suspended'];
    const before = { [begun]: lines(begun), [ended]: lines(ended) };
    const told = (words: string) => until(`the worker to say: ${words}`, () => lines(words) > (before[words] ?? 0));
    await suspendOrganization(pool, organizationId);
    try {
      await told(begun);
      await workflow(delivery.id).signal('retryNow');
      const lost = `delete from outbox where delivery_id = $1 and resume = 'waiting'`;
      await until('its turn to be lost', async () => (await pool.query(lost, [delivery.id])).rowCount === 1);
    } finally {
      await resumeOrganization(pool, organizationId);
    }
    await told(ended);
    return { endpoint, delivery };
  }

  it('tell a retry to any destination of its turn when its row has left the outbox', async () => {
    const { endpoint, delivery } = await turnLost();
    expect(endpoint.requests).to.have.length(1);
    await makeOverdue(testInstance, delivery.id);
    await repairedUntil('delivered', delivery.id);
    expect(arrivals(endpoint)).to.deep.equal(['1', '2']);
  });

  it('make no attempt of a delivery that is late and whose workflow waits for the time of it', async () => {
    const { endpoint, delivery } = await waitingForRetry([500, 200]);
    await makeOverdue(testInstance, delivery.id);
    expect(await reconcileNow(testInstance), 'it may wait for its turn').to.deep.equal({ 'workflows told': 1 });
    expect((await records.delivery(delivery.id)).status).to.equal('retrying');
    expect(endpoint.requests).to.have.length(1);
    await testInstance.client.post(`/api/deliveries/${delivery.id}/cancel`, {});
  });

  describe('because PostgreSQL was restored and is older than Temporal', () => {
    /** Takes back what was recorded of a delivery, but for so many attempts. */
    async function takeBack({ id, eventId }: DeliveryView, status: string, attempts: number): Promise<void> {
      await testInstance.pool.query(
        `with event as (
           update events set deliveries_succeeded = 0, deliveries_failed = 0, status = 'pending' where id = $2
         ), made as (
           delete from attempts where delivery_id = $1 and attempt_number > $4
         )
         update deliveries set status = $3, attempt_count = $4, finished_at = null, delivered_at = null, error = null,
                next_attempt_at = case when $4 > 0 then now() - interval '1 hour' end
         where id = $1`,
        [id, eventId, status, attempts],
      );
    }

    const queueAgain = (id: string) =>
      testInstance.pool.query(
        `insert into outbox (delivery_id, destination_id, organization_id, event_id, source_id, route_id, priority, shard)
         select id, destination_id, organization_id, event_id, source_id, route_id, priority, 0 from deliveries where id = $1`,
        [id],
      );

    it('make an attempt again whose workflow has ended as delivered', async () => {
      const { endpoint, delivery } = await waitingForRetry([500, 200]);
      await workflow(delivery.id).signal('retryNow');
      await records.deliveryWith('delivered', delivery.eventId);
      await records.workflowsEnd([delivery.id]);
      await takeBack(delivery, 'retrying', 1);
      expect((await reconcileNow(testInstance))['deliveries started anew']).to.equal(1);
      await records.deliveryWith('delivered', delivery.eventId);
      expect(arrivals(endpoint)).to.deep.equal(['1', '2', '2']);
    });

    it('end a workflow that waits for a replay, and go on with its delivery', async () => {
      const endpoint = receiver.endpoint(500, 500, 200);
      const retryPolicy = onceMore(1, 10);
      const sent = await records.deliver(endpoint.url, '{"order":1}', 'failed', { destination: { retryPolicy } });
      await parkedWorkflow(sent.delivery.id);
      await takeBack(sent.delivery, 'retrying', 1);
      expect((await reconcileNow(testInstance))['workflows told']).to.equal(1);
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

    it('empty the outbox of a delivery that has ended', async () => {
      const sent = await records.deliver(receiver.endpoint().url, '{"order":1}', 'delivered');
      await records.workflowsEnd([sent.delivery.id]);
      await queueAgain(sent.delivery.id);
      await until('the outbox to be empty', async () => (await records.queued()) === 0);
      expect((await records.delivery(sent.delivery.id)).attemptCount).to.equal(1);
    });

    it('let a workflow go on to which its delivery in the outbox belongs', async () => {
      const { endpoint, delivery } = await waitingForRetry([500, 200]);
      await takeBack(delivery, 'pending', 0);
      await queueAgain(delivery.id);
      await until('the outbox to be empty', async () => (await records.queued()) === 0);
      await workflow(delivery.id).signal('retryNow');
      await records.deliveryWith('delivered', delivery.eventId);
      expect(arrivals(endpoint)).to.deep.equal(['1', '2']);
    });

    it('let a retry go on that waits for its turn, and whose delivery is in the outbox as a new one', async () => {
      const { endpoint, delivery } = await turnLost();
      await takeBack(delivery, 'pending', 0);
      await queueAgain(delivery.id);
      await records.deliveryWith('delivered', delivery.eventId);
      expect(arrivals(endpoint)).to.deep.equal(['1', '2']);
    });
  });

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
      await testInstance.pool.query(`update circuits set state = 'half_open', wake_at = null where route_id = $1`, [
        route.id,
      ]);
      expect((await reconcileNow(testInstance))['circuits woken']).to.equal(1);
      await records.deliveryWith('delivered', eventId);
    });

    it('go on with a delivery that was held after an attempt and whose workflow is lost, when it is released', async () => {
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

  describe('afterwards', () => {
    it('are counted by kind', async () => {
      const { rows } = await testInstance.pool.query<{ kind: string; total: number }>(
        'select kind, total from repairs',
      );
      const kinds = rows.filter(({ total }) => total > 0).map(({ kind }) => kind);
      expect(kinds).to.include.members([
        'deliveries resumed',
        'deliveries failed',
        'workflows ended',
        'circuits woken',
      ]);
    });
  });
});
