import { expect } from 'chai';
import { circuitWorkflowId } from '../../core/temporal/names.ts';
import { pause, resume, routePath } from '../support/workflows/pauses.ts';
import type { RouteView, SourceView } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { selectValue } from '../support/database/sql.ts';

// A dead relay's lease ends after 6 s, a lost workflow is started again 10 s after it should have acted. The rest is
// for slow machines.
const RECOVERY_MS = 180_000;
const EVENTS = 30;

describe('pauses and faults', function () {
  this.timeout(600_000);
  const { testInstance, records, receiver, circuits } = useHookyard({});

  async function sendMany(source: SourceView, count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let order = 0; order < count; order += 1) ids.push(await records.accepted(source, JSON.stringify({ order })));
    return ids;
  }
  const countOf = ({ id }: RouteView, status: string) => selectValue<number>(testInstance.pool)`select count(*)
    from deliveries where route_id = ${id} and status = ${status}`;
  const untilAll = (route: RouteView, status: string) =>
    until(`all to be ${status}`, async () => (await countOf(route, status)) === EVENTS, RECOVERY_MS);

  it('holds when the worker is killed: another one sends nothing, and after the resume each event once', async () => {
    const worker = await testInstance.onlyWorker();
    const endpoint = receiver.endpoint();
    const { source, route } = await records.pipe(endpoint.url, { destination: { maxConcurrency: 1 } });
    await pause(testInstance, routePath(route));
    const first = await sendMany(source, EVENTS / 2);
    await until('these to be held', async () => (await countOf(route, 'circuit_open')) === EVENTS / 2, RECOVERY_MS);
    await worker.kill();
    // They come while no worker runs.
    const later = await sendMany(source, EVENTS / 2);
    await testInstance.startWorker();
    await untilAll(route, 'circuit_open');
    expect(endpoint.requests).to.have.length(0);
    await resume(testInstance, routePath(route), { releasePerSecond: 50 });
    await untilAll(route, 'delivered');
    expect(endpoint.requests.map(({ headers }) => headers['x-hookyard-event-id'])).to.have.members([
      ...first,
      ...later,
    ]);
    expect(endpoint.requests).to.have.length(EVENTS);
  });

  it('ends at its time although its workflow was terminated and the worker killed', async () => {
    const worker = await testInstance.onlyWorker();
    const { source, route } = await records.pipe(receiver.endpoint().url);
    await pause(testInstance, routePath(route), { until: new Date(Date.now() + 10_000).toISOString() });
    const handle = testInstance.temporal.workflow.getHandle(circuitWorkflowId(route.id));
    await until('its workflow to run', async () => (await handle.describe()).historyLength > 5);
    await handle.terminate('by an operator');
    await worker.kill();
    const eventId = await records.accepted(source, '{"order":1}');
    await testInstance.startWorker();
    await until(
      'the event to be delivered',
      async () => (await records.event(eventId)).status === 'delivered',
      RECOVERY_MS,
    );
    expect(await circuits.status(route)).to.include({ paused: false, circuitState: 'closed' });
  });
});
