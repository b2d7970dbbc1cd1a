// Temporal's databases are dropped and recreated, empty, while there is undelivered work of every kind. PostgreSQL has
// all of it, and Hookyard recovers by itself.
import { expect } from 'chai';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { ensureBinaries } from '../../local/temporal/binaries.ts';
import { type Stack, startStack } from '../../local/stack.ts';
import { readRolePasswords } from '../../local/postgres/roles.ts';
import { updateTemporalSchemas } from '../../local/temporal/schema.ts';
import { circuitWorkflowId } from '../../core/temporal/names.ts';
import { makeOverdue } from '../support/workflows/reconcile.ts';
import { onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

const project = join(import.meta.dirname, '..', '..');
// After Temporal is back: a worker notices within 30 s that its schedules are gone and makes them, which runs the
// reconciliation; replays and circuits are checked at most a minute after their last activity.
const RECOVERY_MS = 240_000;
const HOUR_MS = 3_600_000;

describe('Temporal, emptied', function () {
  this.timeout(900_000);
  let stack: Stack;
  before(async () => {
    // Servers of its own: other files have workflows in the databases of theirs.
    stack = await startStack({
      dataDir: join(project, '.test-data', `temporal-lost-${process.pid}`),
      postgresPort: 0,
      temporalPort: 0,
      uiPort: null,
      log: () => {},
    });
  });
  const { testInstance, records, receiver, line } = useHookyard({ servers: () => stack });
  after(async () => {
    await stack?.stop();
    if (stack) rmSync(stack.dataDir, { recursive: true, force: true });
  });

  /** Stops Temporal, drops both of its databases, and starts it on new ones. */
  async function emptyTemporal(): Promise<void> {
    await stack.temporal?.stop();
    const urlOf = (database: string) => Object.assign(new URL(stack.databaseUrl), { pathname: `/${database}` }).href;
    const client = new pg.Client({ connectionString: urlOf('postgres') });
    await client.connect();
    for (const database of ['temporal', 'temporal_visibility']) {
      await client.query(`drop database ${database} with (force)`);
      await client.query(`create database ${database} owner hookyard_temporal`);
    }
    await client.end();
    const { sqlTool } = await ensureBinaries({ log: () => {}, ui: false });
    const own = (database: string) => {
      const { hookyard_temporal: password } = readRolePasswords(stack.dataDir);
      return Object.assign(new URL(urlOf(database)), { username: 'hookyard_temporal', password }).href;
    };
    const [databaseUrl, visibilityUrl] = [own('temporal'), own('temporal_visibility')];
    await updateTemporalSchemas({ sqlTool, databaseUrl, visibilityUrl });
    await stack.temporal?.start();
  }

  const isRunning = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  /** What keeps processes running under `npm start` and in containers: one that ended is started again. */
  async function keepWorkerRunning(): Promise<void> {
    const [worker] = testInstance.workers;
    if (worker && isRunning(worker.pid)) return;
    testInstance.workers.splice(0);
    await testInstance.startWorker();
  }

  it('is filled again from PostgreSQL: retries, held deliveries, circuits, replays and schedules', async () => {
    await testInstance.startWorker();

    // A delivery that waits for its third attempt, and one that does so for an hour more.
    const flaky = receiver.endpoint(500, 500, 200);
    const retryPolicy = onceMore(5, HOUR_MS);
    const due = await records.deliver(flaky.url, '{"order":1}', 'retrying', { destination: { retryPolicy } });
    await testInstance.client.post(`/api/deliveries/${due.delivery.id}/retry`, {});
    await until('a second attempt', async () => (await records.delivery(due.delivery.id)).attemptCount === 2);
    const patient = receiver.endpoint(500, 200);
    const later = await records.deliver(patient.url, '{"order":2}', 'retrying', { destination: { retryPolicy } });

    // A failed one, whose workflow waits for a replay.
    const failing = receiver.endpoint(500, 200);
    const failed = await records.deliver(failing.url, '{"order":3}', 'failed');

    // An open circuit with a delivery that is held after an attempt, and one that is held before its first.
    const down = receiver.endpoint(500, 200);
    const cut = await records.pipe(down.url, {
      destination: { retryPolicy: onceMore(5, 10) },
      route: { circuitFailureThreshold: 1, circuitCooldownSeconds: 3600, circuitProbeSuccessThreshold: 1 },
    });
    const heldAfter = await records.accepted(cut.source, '{"order":4}');
    await records.deliveryWith('circuit_open', heldAfter);
    const heldBefore = await records.accepted(cut.source, '{"order":5}');
    await records.deliveryWith('circuit_open', heldBefore);

    // A replay of stored events, one a second.
    const stored = await records.source();
    const replayed = await Promise.all(Array.from({ length: 5 }, (_, n) => records.accepted(stored, `{"n":${n}}`)));
    const target = receiver.endpoint();
    await records.route(stored.id, [(await records.destination(target.url)).id]);
    const replay = await testInstance.client.post<{ id: string }>(`${testInstance.base}/events/replay`, {
      sourceId: stored.id,
      ratePerSecond: 1,
    });
    await until('the replay to have begun', () => target.requests.length > 0);

    // And webhooks that keep coming.
    const { ledger } = await line();
    await ledger.post();

    const emptying = emptyTemporal();
    for (let n = 0; n < 20; n += 1) expect((await ledger.post())?.status).to.equal(200);
    await emptying;
    await makeOverdue(testInstance, due.delivery.id);
    // As if the cooldown had passed.
    await execute(testInstance.pool)`update circuits
      set opened_at = now() - interval '2 hours', wake_at = now(), version = version + 1
      where route_id = ${cut.route.id}`;
    const supervisor = setInterval(() => void keepWorkerRunning().catch(() => undefined), 2000);
    try {
      await ledger.settle(RECOVERY_MS);
      await until(
        'all to be delivered',
        async () => {
          for (const eventId of [due.eventId, heldAfter, heldBefore, ...replayed]) {
            const { status } = await records.event(eventId);
            if (status !== 'delivered') throw new Error(`${eventId} is ${status}`);
          }
          return true;
        },
        RECOVERY_MS,
      );
    } finally {
      clearInterval(supervisor);
    }

    const attempts = (requests: typeof flaky.requests) => requests.map(({ headers }) => headers['x-hookyard-attempt']);
    expect(attempts(flaky.requests), 'attempt 3 and not 1').to.deep.equal(['1', '2', '3']);
    expect(
      down.requests.map(({ headers, body }) => `${headers['x-hookyard-attempt']} ${body}`).toSorted(),
    ).to.deep.equal(['1 {"order":4}', '1 {"order":5}', '2 {"order":4}']);
    await until('the replay to be complete', async () => {
      const view = await testInstance.client.get<{ status: string }>(
        `${testInstance.base}/events/replays/${replay.id}`,
      );
      return view.status === 'completed';
    });
    await until('the circuit to be closed', async () => {
      const { rowCount } = await execute(testInstance.pool)`select from circuits where route_id = ${cut.route.id}
        and state = 'closed' and wake_at is null`;
      return rowCount === 1;
    });

    const connection = await Connection.connect({ address: stack.temporalAddress });
    const temporal = new Client({ connection, namespace: testInstance.temporal.options.namespace });
    try {
      const schedules: string[] = [];
      for await (const { scheduleId } of temporal.schedule.list()) schedules.push(scheduleId);
      expect(schedules).to.include.members(['hookyard-maintenance', 'hookyard-reconciliation']);
      const circuit = temporal.workflow.getHandle(circuitWorkflowId(cut.route.id));
      await until('the workflow of the circuit to end', async () => {
        return (await circuit.describe()).status.name === 'COMPLETED';
      });
    } finally {
      await connection.close();
    }

    // What is not due yet stays as it is until then, and what has failed can be replayed without its workflow.
    expect(await records.delivery(later.delivery.id)).to.include({ status: 'retrying', attemptCount: 1 });
    expect(patient.requests).to.have.length(1);
    await testInstance.client.post(`/api/deliveries/${later.delivery.id}/retry`, {});
    await records.deliveryWith('delivered', later.eventId);
    expect(attempts(patient.requests)).to.deep.equal(['1', '2']);
    expect((await records.delivery(failed.delivery.id)).status).to.equal('failed');
    await testInstance.client.post(`/api/deliveries/${failed.delivery.id}/replay`, {});
    await records.eventWith('delivered', failed.eventId);
  });
});
