// Heartbeats of attempts under way: Temporal makes an attempt again whose heartbeats it misses, so they come much more
// often than it asks.
import { expect } from 'chai';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

// The time-out is 15 s. The SDK would send one every 12 s, never sooner.
const OFTEN_MS = 10_000;

describe('heartbeats of attempts', () => {
  const { testInstance, records, receiver } = useHookyard({});

  it('reach Temporal so often that one may be missing', async () => {
    await testInstance.startWorker({ HOOKYARD_LANE: 'workflow' });
    const gate = Promise.withResolvers<void>();
    const endpoint = receiver.endpoint({ after: gate.promise });
    const { source } = await records.pipe(endpoint.url);
    const eventId = await records.accepted(source, '{"order":1}');
    await until('the attempt to run', () => endpoint.requests.length === 1);
    const [delivery] = await records.deliveries(eventId);
    const workflow = testInstance.temporal.workflow.getHandle(delivery?.id ?? '');
    const beats: number[] = [];
    await until(
      'two beats soon after each other',
      async () => {
        const { raw } = await workflow.describe();
        const time = raw.pendingActivities?.[0]?.lastHeartbeatTime;
        const beat = Number(time?.seconds ?? 0) * 1000 + (time?.nanos ?? 0) / 1e6;
        if (beat > (beats.at(-1) ?? 0)) beats.push(beat);
        return beats.some((at, index) => index > 0 && at - (beats[index - 1] ?? 0) < OFTEN_MS);
      },
      120_000,
    );
    gate.resolve();
    expect(await workflow.result()).to.deep.equal({ status: 'delivered', attempts: 1 });
    expect(endpoint.requests).to.have.length(1);
  });
});
