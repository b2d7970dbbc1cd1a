// What an operator finds and does in the Temporal UI: search attributes, texts and hand-typed signals.
import { expect } from 'chai';
import { cancel, release, replay } from '../../workflows/signals-and-queries.ts';
import {
  failed,
  failedOver,
  held,
  retrying,
  type ScriptedDelivery,
  startScriptedWorker,
} from '../support/workflows/scripted-attempts.ts';
import { currentDetails, hasStatus } from '../support/workflows/scripted-history.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-hookyard.ts';

const HOUR_MS = 3_600_000;

describe("the operator's desk", () => {
  const worker = useStarted(() => startScriptedWorker('test-operators-desk'));

  it('finds a delivery as retrying again after its circuit has held it', async () => {
    const delivery = await worker.start([retrying(1), held, retrying(HOUR_MS)]);
    await until('the hold', () => isFoundAs(delivery, 'circuit_open'));
    await delivery.handle.signal(release);
    await until('the retry', () => isFoundAs(delivery, 'retrying'));
    await delivery.handle.signal(cancel);
    await delivery.handle.result();
  });

  it('replays a failed delivery whatever was typed into the data of the signal', async () => {
    const delivery = await worker.start([failed], {}, 'dlv_created_by_the_workflow');
    await until('the failure', () => hasStatus(delivery, 'failed'));
    await delivery.handle.signal(replay, 'please');
    expect(await delivery.handle.result()).to.include({ replayedAs: 'dlv_created_by_the_workflow' });
    expect(delivery.replays).to.have.length(1);
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

  it('leads from a delivery that failed over to the one that took over', async () => {
    const delivery = await worker.start([failedOver]);
    const { takenOverBy } = await delivery.handle.result();
    expect(await currentDetails(delivery)).to.contain(`/workflows/${takenOverBy})`);
  });

  async function isFoundAs({ input }: ScriptedDelivery, deliveryStatus: string): Promise<boolean> {
    const query = `WorkflowId = "${input.deliveryId}" and DeliveryStatus = "${deliveryStatus}"`;
    return (await worker.client.workflow.count(query)).count === 1;
  }
});
