// Two databases on one Temporal server, each with a namespace: what docs/operate/scaling.md builds on. Everything that
// Temporal keeps by a fixed id or finds by a query (schedules, housekeeping, the comparison with PostgreSQL) must stay
// with its database.
import { expect } from 'chai';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { keepHouse } from '../support/database/housekeeping.ts';
import { reconcileNow } from '../support/workflows/reconcile.ts';
import { onceMore, Records } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useReceiver } from '../support/use-hookyard.ts';

const HOUR_MS = 3_600_000;
const SCHEDULES = ['hookyard-maintenance', 'hookyard-reconciliation'];

describe('two databases on one Temporal server', () => {
  let both: OwnHookyard[] = [];
  const receiver = useReceiver();
  before(async () => {
    both = await Promise.all([startHookyard(), startHookyard()]);
    await Promise.all(both.map((each) => each.startWorker()));
  });
  after(async () => {
    await Promise.all(both.map((each) => each.close()));
  });

  it('each have their own schedules and housekeeping', async () => {
    for (const each of both) {
      await until('both schedules to be there', async () => {
        const found: string[] = [];
        for await (const { scheduleId } of each.temporal.schedule.list()) found.push(scheduleId);
        return SCHEDULES.every((id) => found.includes(id));
      });
      // Only the workers of this database may run it, and only they know that it is done.
      await keepHouse(each);
    }
  });

  it('each compare their own deliveries with Temporal, and leave those of the other alone', async () => {
    const waiting = await Promise.all(
      both.map(async (each) => {
        const records = new Records(each);
        const destination = { retryPolicy: onceMore(5, HOUR_MS) };
        const endpoint = receiver.endpoint(500);
        const { delivery } = await records.deliver(endpoint.url, '{"order":1}', 'retrying', { destination });
        const listed = `WorkflowId = "${delivery.id}" and ExecutionStatus = "Running"`;
        await until('its workflow to be listed', async () => (await each.temporal.workflow.count(listed)).count === 1);
        return { each, records, id: delivery.id };
      }),
    );
    for (const { each } of waiting) expect(await reconcileNow(each)).to.deep.equal({});
    for (const { records, id } of waiting) expect(await records.workflowStatus(id)).to.equal('RUNNING');
  });
});
