// A worker that is cut off from Temporal in the middle of an attempt: Temporal takes the attempt for lost and asks for
// it again.
import { expect } from 'chai';
import { Records } from '../support/records.ts';
import { stackAddresses } from '../support/stack.ts';
import { startTcpProxy, type TcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const PATIENCE_MS = 120_000;

describe('an attempt whose worker is cut off from Temporal', function () {
  this.timeout(360_000);
  const { testInstance, receiver } = useHookyard({});
  let temporal: TcpProxy;
  before(async () => {
    temporal = await startTcpProxy(stackAddresses().temporalAddress);
  });
  after(async () => {
    await temporal.close();
  });

  it('is not sent again while it is under way', async () => {
    await testInstance.startWorker({ HOOKYARD_LANE: 'workflow', TEMPORAL_ADDRESS: temporal.address });
    const records = new Records(testInstance);
    const gate = Promise.withResolvers<void>();
    const endpoint = receiver.endpoint({ after: gate.promise });
    const { source } = await records.pipe(endpoint.url, { destination: { timeoutMs: 60_000 } });
    const eventId = await records.accepted(source, '{"order":1}');
    await until('the attempt to run', () => endpoint.requests.length === 1);
    const [delivery] = await records.deliveries(eventId);
    const workflow = testInstance.temporal.workflow.getHandle(delivery?.id ?? '');
    temporal.refuseConnections();
    await until(
      'Temporal to take it for lost',
      async () => (await workflow.fetchHistory()).events?.some((event) => event.activityTaskTimedOutEventAttributes),
      PATIENCE_MS,
    );
    temporal.breakConnections();
    await until(
      'a heartbeat of the second one',
      async () => (await workflow.describe()).raw.pendingActivities?.some(({ lastHeartbeatTime }) => lastHeartbeatTime),
      PATIENCE_MS,
    );
    gate.resolve();
    expect(await workflow.result()).to.deep.equal({ status: 'delivered', attempts: 1 });
    expect(endpoint.requests).to.have.length(1);
  });
});
