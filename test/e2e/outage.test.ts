// An outage that fails many deliveries for good: how many of them wait in Temporal to be replayed.
import { expect } from 'chai';
import { Records } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const FAILURES = 4;
const MOST_PARKED = 2;

describe('an outage that fails many deliveries', () => {
  const { testInstance, receiver } = useHookyard({});
  before(async () => {
    await testInstance.startWorker({ tuning: { maxParkedPerOrganization: MOST_PARKED } });
  });

  it('leaves as many workflows open as may wait, and all of them to be found and replayed', async () => {
    const records = new Records(testInstance);
    const endpoint = receiver.endpoint(...Array.from({ length: FAILURES }, () => 500), 200);
    const { source, destination } = await records.pipe(endpoint.url);
    const count = async (executions: string) => {
      const query = `DestinationId = "${destination.id}" and DeliveryStatus = "failed" and ExecutionStatus ${executions}`;
      return (await testInstance.temporal.workflow.count(query)).count;
    };
    const eventIds: string[] = [];
    for (let number = 0; number < FAILURES; number += 1)
      eventIds.push(await records.accepted(source, `{"n":${number}}`));
    const failed = await Promise.all(eventIds.map((id) => records.deliveryWith('failed', id)));
    await until('all of them in visibility', async () => (await count('in ("Running", "Failed")')) === FAILURES);
    expect(await count('= "Running"')).to.equal(MOST_PARKED);
    for (const { id } of failed) await testInstance.client.post(`/api/deliveries/${id}/replay`);
    await until('all replays', async () => {
      const views = await Promise.all(eventIds.map((id) => records.event(id)));
      return views.every(({ status }) => status === 'delivered');
    });
    await until('none to wait any more', async () => (await count('= "Running"')) === 0);
  });
});
