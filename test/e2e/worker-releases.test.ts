// Two releases of workers side by side (HOOKYARD_WORKER_VERSIONING): the new one takes over while webhooks come in and
// deliveries wait, the old one finishes what it has, and nothing is lost, doubled or left lying.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { onceMore } from '../support/records.ts';
import type { Service } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const HOUR_MS = 3_600_000;
// What a delivery may take at most while the releases change.
const AT_ONCE_MS = 15_000;

describe('workers of two releases', () => {
  const { testInstance, records, receiver } = useHookyard({ settings: { HOOKYARD_LANE: 'workflow' } });
  let first: Service;
  let second: Service;
  before(async () => {
    first = await startRelease('r1');
  });

  const startRelease = async (buildId: string) => {
    const worker = await testInstance.startWorker({ HOOKYARD_WORKER_VERSIONING: buildId });
    await until('its release to be the current one', () =>
      worker.output().includes('this release is now the current one'),
    );
    return worker;
  };

  /** The releases that worked on a workflow, in order; and whether a task of it has failed. */
  async function workedOn(id: string): Promise<{ releases: string[]; failed: number }> {
    const { events } = await testInstance.temporal.workflow.getHandle(id).fetchHistory();
    const releases = (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: task }) => {
      const buildId = task?.deploymentVersion?.buildId;
      return buildId ? [buildId] : [];
    });
    const failed = (events ?? []).filter((event) => event.workflowTaskFailedEventAttributes).length;
    return { releases: [...new Set(releases)], failed };
  }

  it('deliver with the first one', async () => {
    const { delivery } = await records.deliver(receiver.endpoint(200).url, '{"n":0}', 'delivered');
    await records.workflowsEnd([delivery.id]);
    expect(await workedOn(delivery.id)).to.deep.equal({ releases: ['r1'], failed: 0 });
  });

  it('change while webhooks come in: the second takes over what waits, and nothing is late', async () => {
    const destination = { retryPolicy: onceMore(5, HOUR_MS) };
    const waiting = await records.deliver(receiver.endpoint(500, 200).url, '{"n":1}', 'retrying', { destination });
    const { promise: answer, resolve: answerNow } = Promise.withResolvers<void>();
    const slow = receiver.endpoint({ status: 200, after: answer });
    const pipeToSlow = await records.pipe(slow.url);
    const inAttempt = await records.accepted(pipeToSlow.source, '{"n":2}');
    await until('its attempt to be under way', () => slow.waiting === 1);

    const endpoint = receiver.endpoint(200);
    const { source } = await records.pipe(endpoint.url);
    const sent: string[] = [];
    let isOver = false;
    const stream = (async () => {
      while (!isOver) {
        sent.push(await records.accepted(source, `{"n":${sent.length}}`));
        await delay(100);
      }
    })();
    second = await startRelease('r2');
    const stopping = first.stop();
    answerNow();
    expect(await stopping).to.equal(0);
    // Before that, Temporal may still give the first one a task of what it knows already.
    await testInstance.client.post(`/api/deliveries/${waiting.delivery.id}/retry`, {});
    await records.deliveryWith('delivered', waiting.eventId);
    isOver = true;
    await stream;
    await until('all to arrive', () => endpoint.requests.length >= sent.length, AT_ONCE_MS);
    for (const id of sent) await records.eventWith('delivered', id);
    expect(endpoint.requests).to.have.length(sent.length);
    await records.deliveryWith('delivered', inAttempt);
    expect(slow.requests).to.have.length(1);

    await records.workflowsEnd([waiting.delivery.id]);
    expect((await workedOn(waiting.delivery.id)).releases).to.deep.equal(['r1', 'r2']);
    for (const id of sent) {
      const [delivery] = await records.deliveries(id);
      const { failed } = await workedOn(delivery?.id ?? '');
      expect(failed, `failed workflow tasks of ${delivery?.id}`).to.equal(0);
    }
  });

  it('leave a restarted worker of the first one without new work', async () => {
    const again = await testInstance.startWorker({ HOOKYARD_WORKER_VERSIONING: 'r1' });
    await until('it to say so', () => again.output().includes('another release is the current one'));
    const { delivery } = await records.deliver(receiver.endpoint(200).url, '{"n":3}', 'delivered');
    await records.workflowsEnd([delivery.id]);
    expect(await workedOn(delivery.id)).to.deep.equal({ releases: ['r2'], failed: 0 });
    expect(second.running).to.equal(true);
  });

  it('go back to the first one under a name that is new', async () => {
    await startRelease('back-to-1');
    const { delivery } = await records.deliver(receiver.endpoint(200).url, '{"n":4}', 'delivered');
    await records.workflowsEnd([delivery.id]);
    expect(await workedOn(delivery.id)).to.deep.equal({ releases: ['back-to-1'], failed: 0 });
  });

  describe('when no worker of the current one is left', () => {
    const TAKES_OVER = 'workflows continue with this worker: no worker of the current release polled for them';
    const tuning = { releaseSilentSeconds: 5 };

    async function takenOverBy(release: string) {
      const destination = { retryPolicy: onceMore(1, HOUR_MS) };
      const waiting = await records.deliver(receiver.endpoint(500, 200).url, '{"n":5}', 'retrying', { destination });
      const worker = await testInstance.onlyWorker({ HOOKYARD_WORKER_VERSIONING: release, tuning });
      await until('it to take over', () => worker.output().includes(TAKES_OVER));
      await testInstance.client.post(`/api/deliveries/${waiting.delivery.id}/retry`, {});
      await records.deliveryWith('delivered', waiting.eventId);
      await records.workflowsEnd([waiting.delivery.id]);
      return (await workedOn(waiting.delivery.id)).releases;
    }

    it('go back to one that was current before, by itself', async () => {
      await startRelease('r3');
      expect(await takenOverBy('r1')).to.deep.equal(['r3', 'r1']);
    });

    it('give way to workers without a release', async () => {
      expect(await takenOverBy('off')).to.deep.equal(['r1']);
    });
  });
});
