import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { expect } from 'chai';
import { cancel, release, replay, retryNow, status } from '../../workflows/signals-and-queries.ts';
import {
  closed,
  deferred,
  delivered,
  failed,
  failedOver,
  held,
  inQueue,
  retrying,
  type ScriptedDelivery,
  startScriptedWorker,
} from '../support/workflows/scripted-attempts.ts';
import {
  attemptNumbers,
  currentDetails,
  eventCounts,
  exportedEvents,
  failureOf,
  hasStatus,
  policyOf,
  tells,
  timerLengths,
} from '../support/workflows/scripted-history.ts';
import type { AttemptOutcome } from '../../activities/types.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-hookyard.ts';

const HOUR_MS = 3_600_000;
// What a local activity and a regular one leave in a history.
const MARKER = 'EVENT_TYPE_MARKER_RECORDED';
const ACTIVITY_TASK = 'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED';

const WORKFLOW_TASK = ['WORKFLOW_TASK_SCHEDULED', 'WORKFLOW_TASK_STARTED', 'WORKFLOW_TASK_COMPLETED'];

describe('delivery workflow', () => {
  const worker = useStarted(() => startScriptedWorker('test-delivery'));

  for (const [how, quick, attempt] of [
    ['a quick destination', true, ['MARKER_RECORDED']],
    [
      'any other destination',
      false,
      ['ACTIVITY_TASK_SCHEDULED', 'ACTIVITY_TASK_STARTED', 'ACTIVITY_TASK_COMPLETED', ...WORKFLOW_TASK],
    ],
  ] as const)
    it(`costs Temporal no more events than these when ${how} takes the event at once`, async () => {
      const made = await worker.start([delivered], { quick });
      await made.handle.result();
      const events = await exportedEvents(made);
      expect(events.map(({ eventType }) => eventType.replace('EVENT_TYPE_', ''))).to.deep.equal([
        'WORKFLOW_EXECUTION_STARTED',
        ...WORKFLOW_TASK,
        ...attempt,
        'WORKFLOW_EXECUTION_COMPLETED',
      ]);
    });

  it('ends when a failover destination takes over, and names the delivery that does, also in the Temporal UI', async () => {
    const delivery = await worker.start([retrying(10), failedOver]);
    const expected = { status: 'failed_over', attempts: 2, takenOverBy: 'dlv_00000000000000000000000000' };
    expect(await delivery.handle.result()).to.deep.equal(expected);
    expect(attemptNumbers(delivery)).to.deep.equal([1, 2]);
    expect(await delivery.handle.query(status)).to.include({ status: 'failed_over' });
    expect(await currentDetails(delivery)).to.contain('/workflows/dlv_00000000000000000000000000)');
  });

  it('waits for the slot that a rate limit reserved and makes the same attempt then', async () => {
    const delivery = await worker.start([deferred(10), deferred(10, 1_795_000_000_000), delivered]);
    expect(await delivery.handle.result()).to.deep.equal({ status: 'delivered', attempts: 1 });
    expect(delivery.attempts.map(({ attempt, slotAt }) => [attempt, slotAt])).to.deep.equal([
      [1, undefined],
      [1, undefined],
      [1, 1_795_000_000_000],
    ]);
  });

  it('waits for its turn where no slot is near, and does not miss one that is told early', async () => {
    const running = Promise.withResolvers<AttemptOutcome>();
    const delivery = await worker.start([inQueue, running.promise, delivered]);
    await until('the wait', () => tells(delivery, 'The next attempt is waiting'));
    await delivery.handle.signal(release);
    await until('the second look', () => delivery.attempts.length === 2);
    await delivery.handle.signal(release);
    running.resolve(inQueue);
    expect(await delivery.handle.result()).to.deep.equal({ status: 'delivered', attempts: 1 });
    expect(delivery.attempts.map(({ attempt, queued }) => [attempt, queued])).to.deep.equal([
      [1, undefined],
      [1, true],
      [1, true],
    ]);
  });

  it('gives an attempt the time of the longest deadline, because that of the destination may grow', async () => {
    const delivery = await worker.start([delivered]);
    await delivery.handle.result();
    const [scheduled] = (await exportedEvents(delivery)).flatMap(
      (event) => event.activityTaskScheduledEventAttributes ?? [],
    );
    expect(Number.parseFloat(scheduled?.startToCloseTimeout ?? '')).to.be.above(60 + 30);
  });

  it('makes the first attempt of a quick destination as a local activity and later ones as regular activities', async () => {
    const delivery = await worker.start([retrying(10), delivered], { quick: true });
    expect(await delivery.handle.result()).to.deep.equal({ status: 'delivered', attempts: 2 });
    expect(delivery.attempts.map((attempt) => attempt.local)).to.deep.equal([true, false]);
    const counts = await eventCounts(delivery);
    expect(counts(MARKER)).to.equal(1);
    expect(counts(ACTIVITY_TASK)).to.equal(1);
  });

  it('plans growing delays with jitter by the retry policy and waits as long as the outcome says', async () => {
    const policy = { maxRetries: 3, initialDelay: 1000, maxDelay: 3000, backoffMultiplier: 2 };
    const delivery = await worker.start([retrying(5), retrying(7), retrying(11), delivered], { retryPolicy: policy });
    expect(await delivery.handle.result()).to.deep.equal({ status: 'delivered', attempts: 4 });
    const planned = delivery.attempts.map((attempt) => attempt.retryDelay);
    expect(planned[0]).to.be.within(900, 1100);
    expect(planned[1]).to.be.within(1800, 2200);
    expect(planned[2]).to.be.within(2700, 3300);
    expect(planned[3], 'the last attempt has no successor').to.equal(null);
    expect(await timerLengths(delivery)).to.deep.equal([5, 7, 11]);
  });

  it('continues from a first attempt that the relay has made', async () => {
    const first = { ...failed, status: 'retrying' as const, waitMs: 15 };
    const delivery = await worker.start([retrying(5), delivered], { first });
    expect(await delivery.handle.result()).to.deep.equal({ status: 'delivered', attempts: 3 });
    expect(attemptNumbers(delivery)).to.deep.equal([2, 3]);
    expect(await timerLengths(delivery)).to.deep.equal([15, 5]);
  });

  it('parks at once when the first attempt of the relay has failed for good', async () => {
    const delivery = await worker.start([], { first: failed });
    await until('it to be parked', async () => (await delivery.handle.query(status)).status === 'failed');
    expect(await delivery.handle.query(status)).to.include({ attempts: 1, lastError: failed.error });
    await delivery.handle.signal(cancel);
    await failureOf(delivery);
    expect(delivery.attempts).to.deep.equal([]);
  });

  it('waits while the circuit of its route holds it, and continues with the same attempt when it is released', async () => {
    const delivery = await worker.start([retrying(1), held, held, delivered]);
    await until('the hold', async () => (await delivery.handle.query(status)).status === 'circuit_open');
    await delivery.handle.signal(release);
    await until('the second hold', () => delivery.attempts.length === 3);
    await delivery.handle.signal(release);
    expect(await delivery.handle.result()).to.deep.equal({ status: 'delivered', attempts: 2 });
    expect(delivery.attempts.map(({ attempt }) => attempt)).to.deep.equal([1, 2, 2, 2]);
    expect(delivery.attempts.map(({ released }) => released === true)).to.deep.equal([false, false, true, true]);
  });

  it('does not miss a release that is sent before it knows that it is held', async () => {
    let hold: (outcome: AttemptOutcome) => void = () => undefined;
    const delivery = await worker.start([new Promise<AttemptOutcome>((resolve) => (hold = resolve)), delivered]);
    await until('the attempt', () => delivery.attempts.length === 1);
    await delivery.handle.signal(release);
    hold(held);
    expect(await delivery.handle.result()).to.deep.equal({ status: 'delivered', attempts: 1 });
  });

  it('stays open as failed when the policy is exhausted, found by its search attributes', async () => {
    const delivery = await worker.start([retrying(1), failed], { retryPolicy: policyOf(1) });
    const query = `DestinationId = "${delivery.destinationId}" and DeliveryStatus = "failed" and ExecutionStatus = "Running"`;
    const found = await until('the failed delivery in visibility', async () => {
      for await (const execution of worker.client.workflow.list({ query })) return execution.workflowId;
      return null;
    });
    expect(found).to.equal(delivery.input.deliveryId);
    expect(await delivery.handle.query(status)).to.deep.include({
      status: 'failed',
      attempts: 2,
      maxAttempts: 2,
      lastError: failed.error,
      lastStatusCode: 500,
      nextAttemptAt: null,
    });
    await delivery.handle.signal(cancel);
    await failureOf(delivery);
  });

  it('ends as failed with DeliveryFailed when the replay window ends', async () => {
    const delivery = await worker.start([failed], { retryPolicy: policyOf(0), replayWindowMs: 50 });
    const failure = await failureOf(delivery);
    expect(failure).to.be.instanceOf(ApplicationFailure);
    expect(failure).to.have.property('type', 'DeliveryFailed');
    expect(failure).to.have.property('message').that.includes('The destination returned 500');
    expect(delivery.replays).to.deep.equal([]);
  });

  it('ends as failed at once when too many others wait for a replay, and is found all the same', async () => {
    const delivery = await worker.start([{ ...failed, parked: false }], { replayWindowMs: HOUR_MS });
    expect(await failureOf(delivery)).to.have.property('type', 'DeliveryFailed');
    expect(await currentDetails(delivery)).to.contain(`POST /api/deliveries/${delivery.input.deliveryId}/replay`);
    const query = `DestinationId = "${delivery.destinationId}" and DeliveryStatus = "failed" and ExecutionStatus in ("Running", "Failed")`;
    await until('it in visibility', async () => (await worker.client.workflow.count(query)).count === 1);
  });

  for (const typed of [[], ['please']] as [string?][])
    it(`creates a new delivery when a failed one is asked to replay, with ${typed[0] ?? 'nothing'} in the signal`, async () => {
      const delivery = await worker.start([failed], {}, 'dlv_created_by_the_workflow');
      await until('the delivery to be parked', () => hasStatus(delivery, 'failed'));
      await delivery.handle.signal(replay, ...typed);
      expect(await delivery.handle.result()).to.deep.equal({
        ...{ status: 'failed', attempts: 1, replayedAs: 'dlv_created_by_the_workflow' },
      });
      const { organizationId, deliveryId } = delivery.input;
      expect(delivery.replays).to.deep.equal([{ organizationId, deliveryId }]);
    });

  it('takes the name of a replay that was created already and creates none', async () => {
    const delivery = await worker.start([failed]);
    await until('the delivery to be parked', () => hasStatus(delivery, 'failed'));
    await delivery.handle.signal(replay, 'dlv_created_by_the_api');
    expect(await delivery.handle.result()).to.have.property('replayedAs', 'dlv_created_by_the_api');
    expect(delivery.replays).to.deep.equal([]);
  });

  it('makes the next attempt at once on retryNow during a long wait', async () => {
    const delivery = await worker.start([retrying(HOUR_MS), delivered]);
    await until('the delivery to wait', () => hasStatus(delivery, 'retrying'));
    await delivery.handle.signal(retryNow);
    expect(await delivery.handle.result()).to.deep.equal({ status: 'delivered', attempts: 2 });
  });

  it('does not lose a retryNow that arrives before the workflow hears of the failed attempt', async () => {
    const running = Promise.withResolvers<ReturnType<typeof retrying>>();
    const delivery = await worker.start([running.promise, retrying(HOUR_MS)]);
    await until('the attempt to run', () => delivery.attempts.length === 1);
    await delivery.handle.signal(retryNow);
    await delivery.handle.signal(retryNow);
    running.resolve(retrying(HOUR_MS));
    await until('the second attempt', () => delivery.attempts.length === 2);
    await until('one wait for one request', async () => (await delivery.handle.query(status)).attempts === 2);
    expect(await delivery.handle.query(status)).to.include({ status: 'retrying' });
    await delivery.handle.signal(cancel);
    expect(await delivery.handle.result()).to.deep.equal({ status: 'cancelled', attempts: 2 });
  });

  it('is cancelled while it waits, and records that', async () => {
    const delivery = await worker.start([retrying(HOUR_MS)]);
    await until('the delivery to wait', () => hasStatus(delivery, 'retrying'));
    await delivery.handle.signal(cancel);
    expect(await delivery.handle.result()).to.deep.equal({ status: 'cancelled', attempts: 1 });
    const { organizationId, deliveryId } = delivery.input;
    expect(delivery.cancels).to.deep.equal([{ organizationId, deliveryId }]);
  });

  it('lets a running attempt finish before it is cancelled', async () => {
    const running = Promise.withResolvers<ReturnType<typeof retrying>>();
    const delivery = await worker.start([running.promise]);
    await until('the attempt to run', () => delivery.attempts.length === 1);
    await delivery.handle.signal(cancel);
    expect(delivery.cancels).to.deep.equal([]);
    running.resolve(retrying(HOUR_MS));
    expect(await delivery.handle.result()).to.deep.equal({ status: 'cancelled', attempts: 1 });
    expect(delivery.cancels).to.have.length(1);
  });

  it('takes a cancellation request of Temporal like the signal, and shows as cancelled there', async () => {
    const delivery = await worker.start([retrying(HOUR_MS)]);
    await until('the delivery to wait', () => hasStatus(delivery, 'retrying'));
    await delivery.handle.cancel();
    expect(await failureOf(delivery)).to.be.instanceOf(CancelledFailure);
    expect(delivery.cancels).to.have.length(1);
    const { status: ended } = await delivery.handle.describe();
    expect(ended.name).to.equal('CANCELLED');
  });

  it('ends as closed when the delivery was ended or deleted meanwhile', async () => {
    const delivery = await worker.start([retrying(1), closed]);
    expect(await delivery.handle.result()).to.deep.equal({ status: 'closed', attempts: 2 });
    expect(delivery.cancels).to.deep.equal([]);
  });

  it('finds a delivery as retrying again after its circuit has held it', async () => {
    const delivery = await worker.start([retrying(1), held, retrying(HOUR_MS)]);
    await until('the hold', () => isFoundAs(delivery, 'circuit_open'));
    await delivery.handle.signal(release);
    await until('the retry', () => isFoundAs(delivery, 'retrying'));
    await delivery.handle.signal(cancel);
    await delivery.handle.result();
  });

  it('names what a failed delivery waits for, and leads to others of its event and destination', async () => {
    const delivery = await worker.start([failed]);
    await until('the failure', () => hasStatus(delivery, 'failed'));
    const details = await currentDetails(delivery);
    expect(details).to.contain('**Failed** after 1 of 4 attempts: The destination returned 500.');
    expect(details).to.contain('`replay` replays the delivery');
    expect(decodeURIComponent(details)).to.contain(`EventId = "${delivery.input.eventId}"`);
    expect(decodeURIComponent(details)).to.contain(`DestinationId = "${delivery.destinationId}"`);
    await delivery.handle.signal(cancel);
    await delivery.handle.result().catch(() => undefined);
  });

  async function isFoundAs({ input }: ScriptedDelivery, deliveryStatus: string): Promise<boolean> {
    const query = `WorkflowId = "${input.deliveryId}" and DeliveryStatus = "${deliveryStatus}"`;
    return (await worker.client.workflow.count(query)).count === 1;
  }
});
