// The express lane when a relay dies at any step: what it acknowledged to nobody else is found in the database, and at
// most the attempts in flight are repeated.
import { expect } from 'chai';
import { useHookyard } from '../support/use-hookyard.ts';
import type { Ledger } from '../support/workflows/ledger.ts';
import type { Answer } from '../support/receiver.ts';
import { onceMore } from '../support/records.ts';
import { stackAddresses } from '../support/stack.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';

// The lease of a stopped relay ends after 6 s. The rest is for slow machines.
const RECOVERY_MS = 180_000;
const MOST_UNANSWERED = 50;
// The limit of a destination grows to no more.
const EXPRESS = { HOOKYARD_LANE: 'express', tuning: { maxInFlightPerDestination: MOST_UNANSWERED } };
// What one relay has under way of one destination: its limit, and 50 that are answered and not recorded
// (worker/relay/in-flight.ts).
const MOST_UNRECORDED = MOST_UNANSWERED + 50;

describe('express lane under faults', function () {
  this.timeout(900_000);
  const { testInstance, records, line: plainLine } = useHookyard({});

  const line = (...answers: Answer[]) => plainLine(answers, { destination: { retryPolicy: onceMore(5, 20) } });

  const onlyDelivery = async (eventId: string) => {
    const [delivery] = await records.deliveries(eventId);
    if (!delivery) throw new Error(`${eventId} has no delivery`);
    return delivery;
  };

  it('continues from a recorded attempt whose relay died before it could start the workflow', async () => {
    const proxy = await startTcpProxy(stackAddresses().temporalAddress);
    const worker = await testInstance.onlyWorker({ ...EXPRESS, TEMPORAL_ADDRESS: proxy.address });
    const { ledger } = await line({ status: 500 }, {});
    proxy.holdRequests();
    const eventId = await ledger.accepted();
    const { id } = await onlyDelivery(eventId);
    await until('the start to be under way', () => proxy.isHolding(id));
    expect(await records.delivery(id)).to.include({ status: 'retrying', attemptCount: 1 });
    await worker.kill();
    await proxy.close();
    await testInstance.startWorker(EXPRESS);
    await ledger.settle(RECOVERY_MS);
    expect(ledger.arrivals(eventId), 'no attempt was repeated').to.equal(2);
    expect(await records.delivery(id)).to.include({ status: 'delivered', attemptCount: 2 });
  });

  it('continues once when its relay died without learning that the workflow was started', async () => {
    const proxy = await startTcpProxy(stackAddresses().temporalAddress);
    const worker = await testInstance.onlyWorker({ ...EXPRESS, TEMPORAL_ADDRESS: proxy.address });
    const { ledger } = await line({ status: 500 }, {});
    proxy.holdAnswers();
    const eventId = await ledger.accepted();
    const { id } = await onlyDelivery(eventId);
    await until('the workflow to be started', () => testInstance.temporal.workflow.getHandle(id).describe());
    await worker.kill();
    await proxy.close();
    await testInstance.startWorker(EXPRESS);
    await ledger.settle(RECOVERY_MS);
    expect(ledger.arrivals(eventId)).to.equal(2);
    expect(await testInstance.temporal.workflow.getHandle(id).result()).to.deep.equal({
      status: 'delivered',
      attempts: 2,
    });
  });

  it('records one of two attempts when a relay that was stopped for longer than its lease wakes up', async () => {
    const stopped = await testInstance.onlyWorker(EXPRESS);
    const gate = Promise.withResolvers<void>();
    const { ledger, endpoint } = await line({ after: gate.promise }, {});
    const eventId = await ledger.accepted();
    await until('the attempt to run', () => endpoint.requests.length === 1);
    process.kill(stopped.pid, 'SIGSTOP');
    try {
      await testInstance.startWorker(EXPRESS);
      await until('the other relay to make it again', () => endpoint.requests.length === 2, RECOVERY_MS);
      await until('it to be recorded', async () => (await onlyDelivery(eventId)).status === 'delivered');
    } finally {
      process.kill(stopped.pid, 'SIGCONT');
    }
    gate.resolve();
    await ledger.settle(RECOVERY_MS);
    const delivery = await onlyDelivery(eventId);
    expect(delivery).to.include({ status: 'delivered', attemptCount: 1 });
    expect(delivery.attempts).to.have.length(1);
    expect(await records.event(eventId)).to.include({ deliveriesSucceeded: 1 });
    // The stopped one takes part again and claims from its own positions only.
    await Promise.all(Array.from({ length: 20 }, () => ledger.post()));
    await ledger.settle(RECOVERY_MS);
    for (const id of [...ledger.acknowledged.keys()].slice(1)) expect(ledger.arrivals(id)).to.equal(1);
  });

  it('repeats at most what was in flight when a relay is killed under load', async () => {
    const workers = await testInstance.onlyWorkers(EXPRESS, EXPRESS);
    const gate = Promise.withResolvers<void>();
    const { ledger, endpoint } = await line(...Array.from({ length: 30 }, () => ({ after: gate.promise })), {});
    await Promise.all(Array.from({ length: 100 }, () => ledger.post()));
    await until('attempts to run', () => endpoint.requests.length >= 30);
    await workers[0].kill();
    gate.resolve();
    await Promise.all(Array.from({ length: 50 }, () => ledger.post()));
    expect(ledger.acknowledged.size).to.equal(150);
    await ledger.settle(RECOVERY_MS);
    expectRepeats(ledger, MOST_UNRECORDED);
  });
});

function expectRepeats(ledger: Ledger, most: number): void {
  const repeated = [...ledger.acknowledged.keys()].filter((id) => ledger.arrivals(id) > 1);
  expect(repeated.length).to.be.at.most(most);
  for (const id of repeated) expect(ledger.arrivals(id)).to.equal(2);
}
