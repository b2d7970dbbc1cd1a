import { expect } from 'chai';
import { WorkflowFailedError } from '@temporalio/client';
import type { AttemptOutcome } from '../../activities/types.ts';
import { named } from '../../core/text/error-summary.ts';
import { sendAll } from '../../temporal-config/workflows.ts';
import { cancel, release } from '../../workflows/signals-and-queries.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-hookyard.ts';
import {
  deferred,
  delivered,
  held,
  retrying,
  startScriptedWorker,
  unrecorded,
  failed,
} from '../support/workflows/scripted-attempts.ts';
import { attemptNumbers, eventCounts, exportedEvents, policyOf, tells } from '../support/workflows/scripted-history.ts';

// More than the events of a history that is cut.
const MANY = 1000;

describe('delivery workflow, when something is wrong with our own side', () => {
  const worker = useStarted(() => startScriptedWorker('test-delivery-own-side'));

  it('repeats an attempt that our own side lost, without using up the policy', async () => {
    const lost = new Error('The database is away');
    const delivery = await worker.start([lost, delivered], { quick: true, retryPolicy: policyOf(0) });
    expect(await delivery.handle.result()).to.deep.equal({ status: 'delivered', attempts: 1 });
    expect(attemptNumbers(delivery)).to.deep.equal([1, 1]);
    expect(delivery.attempts.map((attempt) => attempt.local)).to.deep.equal([true, false]);
  });

  it('records an attempt later that could not be recorded, and does not make it again', async () => {
    const lost = new Error('The database takes no writes');
    const delivery = await worker.start([unrecorded, delivered], { quick: true }, undefined, [lost, retrying(10)]);
    expect(await delivery.handle.result()).to.deep.equal({ status: 'delivered', attempts: 2 });
    expect(attemptNumbers(delivery)).to.deep.equal([1, 2]);
    const { organizationId, deliveryId, eventId } = delivery.input;
    const request = { organizationId, deliveryId, eventId, made: unrecorded };
    expect(delivery.records).to.deep.equal([request, request]);
  });

  it('records what the relay could not, and continues from there', async () => {
    const delivery = await worker.start([delivered], { first: unrecorded }, undefined, [retrying(10)]);
    expect(await delivery.handle.result()).to.deep.equal({ status: 'delivered', attempts: 2 });
    expect(attemptNumbers(delivery)).to.deep.equal([2]);
    expect(delivery.records).to.have.length(1);
  });

  it('can be cancelled while our own side is away', async () => {
    const lost = new Error('The database is away');
    const delivery = await worker.start([lost, lost]);
    await until('the attempt to fail', () => delivery.attempts.length === 1);
    await delivery.handle.signal(cancel);
    expect(await delivery.handle.result()).to.deep.equal({ status: 'cancelled', attempts: 0 });
  });

  it('is cancelled in the pause before the next try, without that try', async () => {
    const delivery = await worker.start([new Error('The database is away'), delivered]);
    await until('the pause', () => tells(delivery, 'trying again in 1 s'));
    await delivery.handle.signal(cancel);
    expect(await delivery.handle.result()).to.deep.equal({ status: 'cancelled', attempts: 0 });
    expect(attemptNumbers(delivery)).to.deep.equal([1]);
  });

  it('says why it cannot continue', async () => {
    const away = await worker.start([new Error('connect ECONNREFUSED 127.0.0.1:5432')], { quick: true });
    await until('the cause', () => tells(away, 'cannot reach its database or a worker'));
    expect(await tells(away, 'Cause: Error: connect ECONNREFUSED')).to.equal(true);
    const defect = await worker.start([new TypeError('x is not a function')]);
    await until('the cause', () => tells(defect, 'Internal Hookyard error'));
    expect(await tells(defect, 'TypeError: x is not a function')).to.equal(true);
    await Promise.all([away.handle.terminate(), defect.handle.terminate()]);
  });

  it('shows a mistake in workflow code as a failed workflow task, and does not repeat attempts because of it', async () => {
    const delivery = await worker.start([null as unknown as AttemptOutcome]);
    const message = await until('a failed workflow task', async () => {
      const events = await exportedEvents(delivery);
      return events.map((event) => event.workflowTaskFailedEventAttributes?.failure?.message).find(Boolean);
    });
    expect(message).to.contain("reading 'status'");
    expect(delivery.attempts).to.have.length(1);
    await delivery.handle.terminate();
  });

  it('repeats what may be repeated without an event for each try', async () => {
    const { handle, looks } = await worker.startCircuit([
      new Error('The database is away'),
      { state: 'closed', held: 0, waitMs: 0 },
    ]);
    await handle.result();
    expect(looks).to.have.length(2);
    const counts = await eventCounts({ handle });
    expect(counts('EVENT_TYPE_ACTIVITY_TASK_SCHEDULED')).to.equal(1);
  });

  it('cuts a long history after any wait, and keeps what was asked for and the slot', async () => {
    const running = Promise.withResolvers<AttemptOutcome>();
    const slotAt = 1_795_000_000_000;
    const delivery = await worker.start([running.promise, held, delivered]);
    await until('the attempt', () => delivery.attempts.length === 1);
    // Each leaves an event, and is too early for the hold, which follows after the cut.
    const signals = Array.from({ length: MANY }, () => () => delivery.handle.signal(release));
    await sendAll(signals, 20);
    running.resolve(deferred(1, slotAt));
    const latest = worker.client.workflow.getHandle(delivery.input.deliveryId);
    expect(await latest.result()).to.deep.equal({ status: 'delivered', attempts: 1 });
    expect((await latest.describe()).runId).not.to.equal(delivery.handle.firstExecutionRunId);
    expect(delivery.attempts.map((each) => [each.attempt, each.slotAt])).to.deep.equal([
      [1, undefined],
      [1, slotAt],
      [1, slotAt],
    ]);
  });
});

// Short texts are written to Protocol Buffers by other code than long ones (protobufjs, Writer.string).
const TEXTS = ['a\ud800b', `${'x'.repeat(100)}\udc00`, 'a\0b'];
const HUGE = 'x'.repeat(5_000_000);

describe('text in errors of activities and workflows', () => {
  const worker = useStarted(() => startScriptedWorker('test-foreign-text'));

  for (const quick of [true, false]) {
    it(`of ${quick ? 'local' : 'regular'} activities: the delivery continues`, async () => {
      const deliveries = await Promise.all(
        [...TEXTS, HUGE].map((text) =>
          worker.start([new Error(text, { cause: new Error(text) }), delivered], { quick }),
        ),
      );
      for (const { handle } of deliveries) expect(await handle.result()).to.include({ status: 'delivered' });
    });
  }

  it('of workflows: it ends, and shows it', async () => {
    for (const text of TEXTS) {
      const { handle } = await worker.start([{ ...failed, error: named(text) }], { replayWindowMs: 0 });
      const failure = await handle.result().catch((error: unknown) => error);
      if (!(failure instanceof WorkflowFailedError)) throw failure;
      const shown = failure.cause?.message ?? '';
      expect(shown).to.match(/^Failed after 1 of 4 attempts: .*\ufffd/);
    }
  });
});
