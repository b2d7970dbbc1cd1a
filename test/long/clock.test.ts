// The clock of a machine is set by an hour, while everything is under way. The API and one worker have that clock; the
// other worker, PostgreSQL and Temporal keep the right one. That is harder than a step of all of them: the clocks
// disagree for as long as it lasts, so whatever one party writes and another compares would show. Nothing here depends
// on the time of day.
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { newId } from '../../core/text/ids.ts';
import { TASK_QUEUE } from '../../core/temporal/names.ts';
import type { maintenance } from '../../workflows/maintenance.ts';
import { ProcessClock } from '../support/workflows/clock.ts';
import { COLD_START_MS, type StoreServer } from '../support/warehouse/object-stores.ts';
import { forgetWorkflow, makeOverdue, pauseReconciliation, reconcileNow } from '../support/workflows/reconcile.ts';
import { type DestinationView, onceMore, type RouteView, type SourceView } from '../support/records.ts';
import type { Service } from '../support/service.ts';
import { until } from '../support/until.ts';
import { providerCases } from '../support/warehouse/warehouse-targets.ts';
import { makePipe, type WarehousePipe } from '../support/warehouse/warehouse-instance.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { selectRows } from '../support/database/sql.ts';

const HOUR_MS = 3_600_000;
const PATIENCE_MS = 180_000;
const SECRET = 'whsec_of_the_clock';
const BODY = '{"order":1}';

interface Pipe {
  source: SourceView;
  destination: DestinationView;
  route: RouteView;
}

describe('a clock that is set while everything is under way', function () {
  this.timeout(900_000);
  const { testInstance, records, receiver } = useHookyard({});
  let store: StoreServer;
  let warehouse: WarehousePipe;
  const clock = new ProcessClock();
  /** The processes that have it. */
  let clocked: Service[] = [];
  /**
   * One pipe for each lane, for all times; every event of theirs is delivered once, and once more where it was
   * replayed.
   */
  const steady: Pipe[] = [];
  const sent = new Map<Pipe, string[]>();
  const replayed = new Map<Pipe, number>();
  let signed: SourceView;
  let once: SourceView;

  before(async function () {
    this.timeout(COLD_START_MS);
    const provider = providerCases.find(({ type }) => type === 'azure_blob');
    if (!provider) throw new Error('there is no such provider');
    store = await provider.start();
    await testInstance.api.stop();
    clocked = await Promise.all([
      testInstance.startApi(clock.environment),
      testInstance.startWorker(clock.environment),
    ]);
    await testInstance.startWorker();
    await provider.prepare(store.url);
    await pauseReconciliation(testInstance);
    warehouse = await makePipe(testInstance, { provider, url: store.url });
    for (const lane of ['workflow', 'express']) {
      const pipe = await records.pipe(receiver.endpoint(200).url, { route: { lane } });
      steady.push(pipe);
      sent.set(pipe, []);
      replayed.set(pipe, 0);
    }
    signed = await records.source({ verificationConfig: { type: 'slack', secret: SECRET } });
    once = await records.source({ idempotencyKey: { header: 'x-order', windowSeconds: 600 } });
  });
  after(async () => {
    await store?.stop();
    clock.close();
  });

  const idsSent = (pipe: Pipe) => sent.get(pipe) ?? [];
  const countIn = (pipe: Pipe) => idsSent(pipe).length + (replayed.get(pipe) ?? 0);

  /** Events by what they wait for: all of it is over in seconds when no clock is mistaken for another. */
  async function begin(): Promise<Record<string, string[]>> {
    const [retry, slot, circuit] = await Promise.all([
      records.pipe(receiver.endpoint(500, 200).url, { destination: { retryPolicy: onceMore(2, 3000) } }),
      records.pipe(receiver.endpoint(500, 500, 200).url, {
        destination: { rateLimitPerMinute: 30, retryPolicy: onceMore(3) },
      }),
      records.pipe(receiver.endpoint(500, 200).url, {
        route: { circuitFailureThreshold: 1, circuitCooldownSeconds: 3, circuitProbeSuccessThreshold: 2 },
      }),
    ]);
    const paced = [await records.accepted(slot.source, BODY), await records.accepted(slot.source, BODY)];
    await records.deliveryWith('failed', await records.accepted(circuit.source, BODY));
    const held = [await records.accepted(circuit.source, BODY), await records.accepted(circuit.source, BODY)];
    const filed = await warehouse.send([BODY]);
    // Last: it waits for its retry only so long.
    const retried = await records.accepted(retry.source, BODY);
    await records.deliveryWith('retrying', retried);
    return { retry: [retried], 'slot of a rate limit': paced, circuit: held, file: filed };
  }

  function deliveredInTime(what: string, eventId: string): Promise<unknown> {
    return until(
      `what waited for its ${what} to be delivered`,
      async () => {
        const [delivery] = (await records.event(eventId)).deliveries ?? [];
        if (delivery?.status !== 'delivered') throw new Error(`${eventId} is ${delivery?.status}`);
        return delivery;
      },
      PATIENCE_MS,
    );
  }

  async function deliversAtFirst(): Promise<void> {
    for (const pipe of steady) {
      const eventId = await records.accepted(pipe.source, BODY);
      sent.get(pipe)?.push(eventId);
      expect(await records.deliveryWith('delivered', eventId)).to.include({ attemptCount: 1 });
    }
  }

  interface Timeline {
    deliveries: { attempts: { startedAt: string; completedAt: string }[] }[];
  }

  async function retriesAndFailsOver(): Promise<void> {
    const [bad, good] = [receiver.endpoint(500), receiver.endpoint(500, 200)];
    const retryPolicy = onceMore(1);
    const [primary, other] = await Promise.all([
      records.destination(bad.url, { retryPolicy }),
      records.destination(good.url, { retryPolicy }),
    ]);
    const source = await records.source();
    await records.route(source.id, [primary.id], { failoverDestinationIds: [other.id], failoverAfterAttempts: 2 });
    const eventId = await records.accepted(source, BODY);
    await records.eventWith('delivered', eventId);
    const made = await records.deliveries(eventId);
    expect(made.map(({ status, attemptCount }) => [status, attemptCount])).to.have.deep.members([
      ['failed_over', 2],
      ['delivered', 2],
    ]);
    const timeline = await testInstance.client.get<Timeline>(`${testInstance.base}/events/${eventId}/timeline`);
    const attempts = timeline.deliveries.flatMap((delivery) => delivery.attempts);
    expect(attempts).to.have.length(4);
    for (const { startedAt, completedAt } of attempts) expect(completedAt >= startedAt).to.equal(true);
  }

  /** The oldest event: it was made before every step. */
  async function replays(): Promise<void> {
    for (const pipe of steady) {
      const [eventId = ''] = idsSent(pipe);
      await testInstance.client.post(`${testInstance.base}/events/${eventId}/replay`);
      const times = (replayed.get(pipe) ?? 0) + 1;
      replayed.set(pipe, times);
      await until('the replay to be delivered', async () => {
        const found = await records.deliveries(eventId);
        return found.length === times + 1 && found.every(({ status }) => status === 'delivered');
      });
    }
  }

  /** The lists show everything once, newest id first, on whatever page. */
  async function listsAll(): Promise<void> {
    for (const pipe of steady) {
      const found: string[] = [];
      for (let page = 1; found.length < idsSent(pipe).length; page += 1) {
        const path = `${testInstance.base}/events?sourceId=${pipe.source.id}&pageSize=2&page=${page}`;
        const { data, pagination } = await testInstance.client.list<{ id: string }>(path);
        expect(pagination.total, 'events').to.equal(idsSent(pipe).length);
        expect(data).to.not.be.empty;
        found.push(...data.map(({ id }) => id));
      }
      expect(found).to.deep.equal(idsSent(pipe).toSorted().toReversed());
      const { pagination } = await testInstance.client.list(`/api/deliveries?routeId=${pipe.route.id}`);
      expect(pagination.total, 'deliveries').to.equal(countIn(pipe));
    }
  }

  async function countsAll(): Promise<void> {
    for (const pipe of steady) {
      const health = await testInstance.client.get(`/api/destinations/${pipe.destination.id}/health`);
      const finished = countIn(pipe);
      expect(health).to.include({ status: 'healthy', totalDeliveries: finished, successfulDeliveries: finished });
      const stats = await testInstance.client.get(`/api/routes/${pipe.route.id}/stats`);
      expect(stats).to.include({ eventsRouted: idsSent(pipe).length, deliveriesSucceeded: finished });
    }
  }

  /** Both workers have their share. */
  async function shardsAreServed(): Promise<void> {
    await until('all shards to be owned', async () => {
      const rows = await selectRows<{ shards: number }>(testInstance.pool)`
        select count(*)::int as shards from workers join shards on owner = name
        group by name`;
      expect(rows.map(({ shards }) => shards)).to.deep.equal([32, 32]);
      return true;
    });
  }

  const maintain = () =>
    testInstance.temporal.workflow.execute<typeof maintenance>('maintenance', {
      workflowId: newId('req'),
      taskQueue: TASK_QUEUE,
      args: [],
    });

  async function repairsWhatIsLost(): Promise<void> {
    const retryPolicy = onceMore(1, HOUR_MS);
    const { source } = await records.pipe(receiver.endpoint(500, 200).url, { destination: { retryPolicy } });
    const eventId = await records.accepted(source, BODY);
    const { id } = await records.deliveryWith('retrying', eventId);
    const untouched = await reconcileNow(testInstance);
    expect(untouched, 'it waits, and is left alone').to.not.have.any.keys('deliveries resumed', 'deliveries failed');
    await until('its workflow to be there', () => testInstance.temporal.workflow.getHandle(id).describe());
    await forgetWorkflow(testInstance, id);
    await makeOverdue(testInstance, id);
    await until('it to be repaired', async () => (await reconcileNow(testInstance))['deliveries resumed'] === 1);
    expect(await records.deliveryWith('delivered', eventId)).to.include({ attemptCount: 2 });
  }

  /** A repeat is known by its key for as long as its source says. */
  async function knowsRepeats(key: string): Promise<string> {
    const headers = { 'content-type': 'application/json', 'x-order': key };
    const [first, second] = [await records.post(once, BODY, headers), await records.post(once, BODY, headers)];
    expect(second.body).to.include({ success: true, duplicate: true, eventId: first.body.eventId });
    return first.body.eventId;
  }

  async function verifiesTimestamps(offsetMs: number): Promise<void> {
    const time = Math.floor(Date.now() / 1000);
    const signature = createHmac('sha256', SECRET).update(`v0:${time}:${BODY}`).digest('hex');
    const answer = await records.post(signed, BODY, {
      'content-type': 'application/json',
      'x-slack-request-timestamp': String(time),
      'x-slack-signature': `v0=${signature}`,
    });
    expect(answer.status, 'a signature with the right time').to.equal(offsetMs === 0 ? 200 : 401);
  }

  let firstRepeated: string;
  const steps: [clock: string, offsetMs: number][] = [
    ['right', 0],
    ['an hour ahead', HOUR_MS],
    ['an hour behind, which is two hours back', -HOUR_MS],
    ['right again', 0],
  ];
  for (const [what, offsetMs] of steps) {
    it(`changes nothing when it is ${what}`, async () => {
      const underWay = await begin();
      await clock.set(offsetMs, clocked);
      await deliversAtFirst();
      await Promise.all([
        ...Object.entries(underWay).flatMap(([wait, ids]) => ids.map((id) => deliveredInTime(wait, id))),
        retriesAndFailsOver(),
        replays(),
        verifiesTimestamps(offsetMs),
        repairsWhatIsLost(),
        knowsRepeats(`order-${offsetMs}-${what}`),
      ]);
      const repeated = await knowsRepeats('order-of-all-times');
      firstRepeated ??= repeated;
      expect(repeated, 'also when it came before the step').to.equal(firstRepeated);
      await shardsAreServed();
      await listsAll();
      await maintain();
      await listsAll();
      await countsAll();
    });
  }
});
