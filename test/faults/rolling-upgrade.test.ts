// A rolling upgrade under load, with nothing paused: the processes of the release before are replaced by those of this one while
// webhooks come in, retries wait and a circuit is open (docs/upgrading.md). Every webhook is answered with 200 and delivered as often
// as it should be, and none waits for long. It needs the machine for itself for some minutes, so it runs when it is named, and with
// --all. ROLLING_PER_SECOND=5 sends fewer of them: a machine that is busy with other things gets a backlog from 20, and then says
// nothing about the upgrade.
import { expect } from 'chai';
import { circuitWorkflowId } from '../../core/workflow-names.ts';
import { requireHaproxy } from '../support/haproxy.ts';
import { BEFORE, BEFORE_VERSIONING, requireRelease } from '../support/releases.ts';
import { onlyWhenAskedFor } from '../support/thorough.ts';
import { until } from '../support/until.ts';
import { type Fleet, startFleet, type Way } from './rolling-upgrade/fleet.ts';
import { type KindName, RETRY_MS, type Sent, startTraffic, type Traffic } from './rolling-upgrade/traffic.ts';

const SETTLED_MS = 180_000;
const WAITING = 3;
/** How many webhooks come in before anything happens, and between two steps. */
const BEFORE_STEPS = 160;
const BETWEEN_STEPS = 60;
// What the server answers to a workflow that ends while a signal arrives: the task is made again, with the signal. It says nothing
// of the code (https://github.com/temporalio/api/blob/master/temporal/api/enums/v1/failed_cause.proto).
const UNHANDLED_COMMAND = 1;
const LAST_OUTPUT = 3000;
const IS_CURRENT = 'this release is the current one';

interface TestedWay extends Way {
  /** Whether Temporal gives each workflow to the workers of one release. */
  isVersioned: boolean;
  /** What a webhook may take more than the slowest before the upgrade, ms. The processes that start take half of a small machine. */
  laterMs: number;
}

const WAYS: TestedWay[] = [
  {
    title: 'whose workers have no versions',
    from: BEFORE_VERSIONING,
    old: { HOOKYARD_LANE: 'workflow' },
    // As docs/upgrading.md has it for this release.
    now: { HOOKYARD_LANE: 'workflow', HOOKYARD_WORKER_VERSIONING: 'on', HOOKYARD_BUILD_ID: 'now' },
    isVersioned: true,
    // Retries took 22 s more on a machine that was busy with other things.
    laterMs: 30_000,
  },
  {
    title: 'with worker versioning',
    from: BEFORE,
    old: { HOOKYARD_LANE: 'adaptive', HOOKYARD_WORKER_VERSIONING: 'on', HOOKYARD_BUILD_ID: 'before' },
    now: { HOOKYARD_LANE: 'adaptive', HOOKYARD_WORKER_VERSIONING: 'on', HOOKYARD_BUILD_ID: 'now' },
    isVersioned: true,
    laterMs: 10_000,
  },
  {
    title: 'without worker versioning',
    from: BEFORE,
    old: { HOOKYARD_LANE: 'adaptive' },
    now: { HOOKYARD_LANE: 'adaptive' },
    isVersioned: false,
    // A workflow may reach a worker that does not know it.
    laterMs: 180_000,
  },
];

for (const way of WAYS) {
  describe(`a rolling upgrade from ${way.from.name}, ${way.title}`, function () {
    this.timeout(900_000);
    let fleet: Fleet;
    let traffic: Traffic;
    /** The slowest of each kind before the upgrade, ms. */
    let early: Map<KindName, number>;
    let waiting: string[];
    before(async function () {
      onlyWhenAskedFor(this);
      requireHaproxy(this);
      await requireRelease(this, way.from);
      fleet = await startFleet(way);
      traffic = await startTraffic(fleet.requests, fleet.balancer.url);
    });
    after(async () => {
      await traffic?.close();
      await fleet?.close();
    });

    it('begins with retries under way, deliveries that wait and an open circuit', async () => {
      waiting = await Promise.all(Array.from({ length: WAITING }, () => traffic.send('waiting')));
      await moreWebhooks(BEFORE_STEPS);
      for (const id of waiting) await reached('retrying', id);
      await until('the circuit to be open', async () => (await circuitState()) === 'open');
      early = slowest();
      expect([...early.keys()]).to.have.members(['plain', 'retried', 'slow']);
    });

    it('gets the migrations of this release while all processes run', async () => {
      await fleet.migrate();
      await moreWebhooks(BETWEEN_STEPS);
    });

    it('gets a worker of this release beside the old ones, which end one by one', async () => {
      const worker = await fleet.startWorker();
      if (way.isVersioned) await until('its release to be the current one', () => worker.output().includes(IS_CURRENT));
      await moreWebhooks(BETWEEN_STEPS);
      for (const old of fleet.old.workers) {
        const code = await fleet.end(old);
        expect(code, old.output().slice(-LAST_OUTPUT)).to.equal(0);
        await moreWebhooks(BETWEEN_STEPS);
      }
    });

    it('gets an API of this release beside the old ones, which end one by one', async () => {
      await fleet.startApi();
      await moreWebhooks(BETWEEN_STEPS);
      for (const old of fleet.old.apis) {
        const code = await fleet.end(old);
        expect(code, old.output().slice(-LAST_OUTPUT)).to.equal(0);
        await moreWebhooks(BETWEEN_STEPS);
      }
    });

    it('has answered every webhook, and delivers each once and in time', async () => {
      traffic.mend();
      await traffic.stop();
      const all = [...traffic.sent.values()].filter(({ kind }) => kind !== 'waiting');
      expect(Object.fromEntries(traffic.answers)).to.deep.equal({ 200: traffic.sent.size });
      await until('all to arrive', () => all.every(({ arrival }) => arrival.takenAt.length > 0), SETTLED_MS);
      await until('the circuit to be closed', async () => (await circuitState()) === 'closed', SETTLED_MS);
      await until('all to be recorded', async () => (await open()) === WAITING, SETTLED_MS);
      const atEnd = slowest();
      tell(atEnd);
      expect(all.filter(({ arrival }) => arrival.takenAt.length !== 1)).to.deep.equal([]);
      for (const [kind, ms] of early) expect(atEnd.get(kind), kind).to.be.below(ms + way.laterMs);
    });

    it('continues with the workflows that the release before has begun', async () => {
      for (const id of waiting) {
        const { deliveryId } = sentOf(id).arrival;
        await fleet.requests.send('POST', `/api/deliveries/${deliveryId}/retry`, {});
        await reached('delivered', id);
        expect(sentOf(id).arrival.takenAt).to.have.length(1);
        if (way.isVersioned) expect(await buildsOf(deliveryId)).to.include('now');
      }
    });

    it('has failed no workflow task', async () => {
      const others = [...traffic.sent.values()].filter(({ kind }) => kind !== 'plain');
      const ids = others.map(({ arrival }) => arrival.deliveryId);
      const failed: string[] = [];
      for (const id of [...ids, circuitWorkflowId(traffic.routes.held)]) failed.push(...(await failedTasks(id)));
      expect(failed).to.deep.equal([]);
    });

    it('has logged no error in the new processes', () => {
      const lines = fleet.now.flatMap((service) => service.output().split('\n'));
      expect(lines.filter((line) => /"level":"(error|fatal)"/.test(line))).to.deep.equal([]);
    });

    const moreWebhooks = async (count: number) => {
      const wanted = traffic.sent.size + count;
      await until(`${count} webhooks`, () => traffic.sent.size >= wanted, SETTLED_MS);
    };
    const sentOf = (id: string): Sent => {
      const found = traffic.sent.get(id);
      if (!found) throw new Error(`${id} was not acknowledged`);
      return found;
    };

    async function reached(status: string, eventId: string): Promise<void> {
      await until(`the delivery of ${eventId} to be ${status}`, async () => {
        const { data } = await fleet.requests.get<{ data: { status: string }[] }>(`/api/deliveries?eventId=${eventId}`);
        if (data[0]?.status !== status) throw new Error(`it is ${data[0]?.status}`);
        return true;
      });
    }

    async function circuitState(): Promise<string> {
      const path = `/api/routes/${traffic.routes.held}/circuit-status`;
      return (await fleet.requests.get<{ circuitState: string }>(path)).circuitState;
    }

    /** How many deliveries have not ended. */
    async function open(): Promise<number> {
      const { rows } = await fleet.pool.query<{ count: number }>(
        `select count(*)::int as count from deliveries where status in ('pending', 'retrying', 'circuit_open')`,
      );
      return rows[0]?.count ?? 0;
    }

    /** How long the slowest webhook of each kind took from its answer until it was taken, ms. */
    function slowest(): Map<KindName, number> {
      const found = new Map<KindName, number>();
      for (const { kind, acknowledgedAt, arrival } of traffic.sent.values()) {
        const [takenAt] = arrival.takenAt;
        // What is held waits for the end of the upgrade.
        if (takenAt === undefined || kind === 'held' || kind === 'waiting') continue;
        found.set(kind, Math.max(found.get(kind) ?? 0, takenAt - acknowledgedAt));
      }
      return found;
    }

    function tell(atEnd: Map<KindName, number>): void {
      const seconds = (ms = 0) => `${(ms / 1000).toFixed(1)} s`;
      const kinds = [...early].map(([kind, ms]) => `${kind} ${seconds(ms)} before, ${seconds(atEnd.get(kind))} in all`);
      const retry = `a retry waits ${seconds(RETRY_MS)}`;
      console.log(`      ${traffic.sent.size} webhooks; the slowest: ${kinds.join('; ')} (${retry})`);
    }

    async function historyOf(id: string) {
      return (await fleet.temporal.workflow.getHandle(id).fetchHistory()).events ?? [];
    }

    /** The releases that worked on a workflow, in order. */
    async function buildsOf(id: string): Promise<string[]> {
      const events = await historyOf(id);
      const builds = events.map(({ workflowTaskCompletedEventAttributes: task }) => task?.deploymentVersion?.buildId);
      return [...new Set(builds.filter((build) => build != null && build !== ''))] as string[];
    }

    /** Tasks of a workflow that failed; none where it had no workflow, because its first attempt was made without one. */
    async function failedTasks(id: string): Promise<string[]> {
      const events = await historyOf(id).catch(() => []);
      return events
        .map((event) => event.workflowTaskFailedEventAttributes)
        .filter((failed) => failed != null && failed.cause !== UNHANDLED_COMMAND)
        .map((failed) => `${id}: ${failed?.failure?.message}`);
    }
  });
}
