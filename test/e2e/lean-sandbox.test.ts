// HOOKYARD_LEAN_SANDBOX: deliveries are made as ever, by workflow threads that spend less.
import { expect } from 'chai';
import { retryNow } from '../../workflows/messages.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { onceMore, Records } from '../support/records.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;

describe('the sandbox of workflows @turns', () => {
  let testInstance: OwnHookyard;
  let receiver: Receiver;
  beforeEach(async () => {
    [testInstance, receiver] = await Promise.all([startHookyard(), startReceiver()]);
  });
  afterEach(async () => {
    await testInstance.close();
    await receiver.close();
  });

  for (const setting of ['on', 'off']) {
    it(`delivers and retries with HOOKYARD_LEAN_SANDBOX=${setting}, and keeps call stacks only without it`, async () => {
      await testInstance.startWorker({ HOOKYARD_LEAN_SANDBOX: setting, HOOKYARD_LANE: 'workflow' });
      const records = new Records(testInstance);
      const endpoint = receiver.endpoint(500, 200);
      const { source } = await records.pipe(endpoint.url, { destination: { retryPolicy: onceMore(1, HOUR_MS) } });
      const eventId = await records.accepted(source, '{"order":1}');
      const { id } = await records.deliveryWith('retrying', eventId);
      const workflow = testInstance.temporal.workflow.getHandle(id);
      await until('the workflow to wait for its retry', async () => {
        const { raw } = await workflow.describe();
        return raw.pendingActivities?.length === 0;
      });
      const callStack = await workflow.query<string>('__stack_trace');
      expect(callStack.includes('waitForRetry')).to.equal(setting === 'off', callStack);
      await workflow.signal(retryNow);
      expect(await workflow.result()).to.deep.equal({ status: 'delivered', attempts: 2 });
    });
  }
});
