import { expect } from 'chai';
import pMap from 'p-map';
import { circuitWorkflowId } from '../../core/temporal/names.ts';
import { breaker, type Switched, switchedEndpoint } from '../support/workflows/circuits.ts';
import { onceMore, type RouteView, type SourceView } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

// A lost attempt is noticed after 15 s (heartbeat), a dead relay's lease ends after 6 s, a lost workflow is started
// again 10 s after it should have acted. The rest is for slow machines.
const RECOVERY_MS = 180_000;
const OUTAGE_EVENTS = 300;
// As many as `breaker` says.
const OPENING_EVENTS = 2;

describe('circuits under load and faults', function () {
  this.timeout(900_000);
  const { testInstance, records, receiver, circuits } = useHookyard({});

  interface Line extends Switched {
    source: SourceView;
    route: RouteView;
  }

  async function line(route: Record<string, unknown>, retryPolicy: unknown = onceMore(0)): Promise<Line> {
    const destination = switchedEndpoint(receiver, 500);
    const made = await records.pipe(destination.endpoint.url, {
      destination: { retryPolicy },
      route: breaker({ circuitProbeSuccessThreshold: 1, ...route }),
    });
    return { ...made, ...destination };
  }

  const untilState = (route: RouteView, state: string) => circuits.untilState(route, state, RECOVERY_MS);
  const countOf = async (text: string, values: unknown[]) =>
    (await testInstance.pool.query<{ count: number }>(text, values)).rows[0]?.count ?? 0;
  const heldOf = (route: RouteView) => countOf('select count(*) from held_deliveries where route_id = $1', [route.id]);
  const deliveriesIn = (route: RouteView, wanted: string) =>
    countOf('select count(*) from deliveries where route_id = $1 and status = $2', [route.id, wanted]);
  const workflowsOf = async (route: RouteView) => {
    const { count } = await testInstance.temporal.workflow.count(
      `RouteId = "${route.id}" and WorkflowType = "delivery"`,
    );
    return count;
  };

  /** Sends events of ascending order, several at a time; resolves with their number. */
  async function sendMany(source: SourceView, count: number): Promise<void> {
    const orders = Array.from({ length: count }, (_, n) => n + 1);
    await pMap(orders, (order) => records.accepted(source, JSON.stringify({ order })), { concurrency: 8 });
  }

  async function open({ source, route }: Line): Promise<void> {
    for (let n = 0; n < OPENING_EVENTS; n += 1) await records.accepted(source, '{"order":0}');
    await untilState(route, 'open');
  }

  it('costs an outage rows only, and delivers every event in order of receipt afterwards', async () => {
    await testInstance.onlyWorkers({}, {});
    const outage = await line({});
    const { source, route, endpoint } = outage;
    await open(outage);
    const attempts = endpoint.requests.length;
    await sendMany(source, OUTAGE_EVENTS);
    await until('all to be held', async () => (await heldOf(route)) === OUTAGE_EVENTS, RECOVERY_MS);
    expect(endpoint.requests.length, 'no attempt reached the destination').to.equal(attempts);
    // Temporal lists a workflow a little after its start, so those of the first events may appear meanwhile.
    expect(await workflowsOf(route), 'no workflow was started').to.be.at.most(OPENING_EVENTS);
    expect(await records.queued(), 'nothing waits in the outbox').to.equal(0);
    const handle = testInstance.temporal.workflow.getHandle(circuitWorkflowId(route.id));
    const { historyLength } = await until('the workflow of the circuit', () => handle.describe());
    expect(historyLength).to.be.lessThan(40);

    outage.answer({ status: 200 });
    await circuits.configure(route, { circuitCooldownSeconds: 1 });
    await until('all to be delivered', async () => (await deliveriesIn(route, 'delivered')) === OUTAGE_EVENTS, 120_000);
    expect(await heldOf(route)).to.equal(0);
    const received = await execute<{ id: string }>(testInstance.pool)`select event_id as id from deliveries
      where route_id = ${route.id} and status = 'delivered' order by id`;
    const place = new Map(received.rows.map(({ id }, index) => [id, index]));
    const arrived = endpoint.requests
      .slice(attempts)
      .map(({ headers }) => place.get(String(headers['x-hookyard-event-id'])) ?? Number.NaN);
    expect(new Set(arrived).size, 'every event once').to.equal(OUTAGE_EVENTS);
    // Released in order, at most a second's worth on its way at the same time: those may overtake each other, and one
    // that meets a slow moment of the machine more than that. In an order by chance half of them would be 88 places or
    // more away.
    const displaced = arrived.map((index, arrival) => Math.abs(index - arrival)).sort((a, b) => a - b);
    expect(displaced[Math.floor(OUTAGE_EVENTS * 0.95)]).to.be.lessThan(80);
    await until('the workflow to end', async () => (await handle.describe()).status.name === 'COMPLETED');
  });

  it('makes a probe again that was lost with its worker, and closes', async () => {
    const worker = await testInstance.onlyWorker();
    const lost = await line({});
    await open(lost);
    const eventId = await records.accepted(lost.source, '{"order":1}');
    await until('it to be held', async () => (await heldOf(lost.route)) === 1);
    const before = lost.endpoint.requests.length;
    lost.answer({ status: 200, after: new Promise(() => undefined) });
    await circuits.configure(lost.route, { circuitCooldownSeconds: 1 });
    await until('the probe to arrive', () => lost.endpoint.requests.length === before + 1);
    await worker.kill();
    lost.answer({ status: 200 });
    await testInstance.startWorker();
    await untilState(lost.route, 'closed');
    expect(await records.deliveryWith('delivered', eventId)).to.include({ attemptCount: 1 });
    expect(lost.endpoint.requests.length).to.equal(before + 2);
  });

  it('continues when a worker is killed while it releases: every event arrives', async () => {
    const worker = await testInstance.onlyWorker();
    const cut = await line({});
    await open(cut);
    const before = cut.endpoint.requests.length;
    await sendMany(cut.source, 200);
    await until('all to be held', async () => (await heldOf(cut.route)) === 200, RECOVERY_MS);
    cut.answer({ status: 200 });
    await circuits.reset(cut.route);
    await until('the release to have begun', () => cut.endpoint.requests.length > before + 10);
    await worker.kill();
    await testInstance.startWorker();
    await until('all to be delivered', async () => (await deliveriesIn(cut.route, 'delivered')) === 200, RECOVERY_MS);
    expect(await heldOf(cut.route)).to.equal(0);
  });
});
