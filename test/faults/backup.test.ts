// PostgreSQL is restored from a backup that was taken under load, while Temporal is newer, or empty: what was
// acknowledged before the backup is delivered, or visible until it is (docs/operate/recovery.md).
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { freePorts } from '../../local/ports.ts';
import { type Postgres, startPostgres } from '../../local/postgres/server.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { copyTree, takeBaseBackup } from '../support/servers/base-backup.ts';
import type { Hookyard } from '../support/hookyard.ts';
import { chosenPostgres } from '../support/servers/postgres-versions.ts';
import type { Answer, ReceivedRequest } from '../support/receiver.ts';
import { pauseReconciliation, reconcileNow } from '../support/workflows/reconcile.ts';
import { onceMore } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const project = join(import.meta.dirname, '..', '..');
const RECOVERY_MS = 600_000;
const SENDERS = 2;
const PAUSE_MS = 100;
// While the backup is taken, which may take minutes: what comes then must not become more than the machine can deliver.
const PAUSE_IN_BACKUP_MS = 1000;
const BEFORE_BACKUP = 20;
const AFTER_BACKUP = 20;

describe('PostgreSQL, restored from a backup', function () {
  this.timeout(1_800_000);
  const folder = join(project, '.test-data', `backup-${process.pid}`);
  const { testInstance, records, receiver } = useHookyard({ workers: [{}] });
  /** Everything acknowledged before the backup was begun, and what was sent after it had been taken. */
  const acknowledgedBefore = new Set<string>();
  const acknowledgedAfter = new Set<string>();
  /** What the destination that is up was sent. */
  let arrived: ReceivedRequest[] = [];
  let failedBefore: string;

  // One backup for all tests: it is what a disaster leaves.
  before(async () => {
    const good = receiver.endpoint();
    // Fails until the disaster, so that many retries are under way at the backup.
    const downAnswer: Answer = { status: 500 };
    const down = receiver.endpoint(downAnswer);
    arrived = good.requests;
    const source = await records.source();
    const destinations = await Promise.all([
      records.destination(good.url),
      records.destination(down.url, { retryPolicy: onceMore(50, 20_000) }),
    ]);
    const ids = destinations.map(({ id }) => id);
    await records.route(source.id, ids, { circuitFailureThreshold: 1000 });
    failedBefore = (await records.deliver(receiver.endpoint(500).url, '{"order":1}', 'failed')).eventId;

    let acknowledged = acknowledgedBefore;
    let sending = true;
    let pauseMs = PAUSE_MS;
    const sender = async () => {
      while (sending) {
        const began = acknowledged;
        const answer = await records.post(source, '{"order":2}');
        if (answer.status === 200 && began === acknowledged) began.add(answer.body.eventId);
        await pause(pauseMs);
      }
    };
    const senders = Promise.all(Array.from({ length: SENDERS }, sender));
    const arrivedAtBoth = () => Math.min(arrived.length, down.requests.length);
    await until('deliveries to be made', () => arrivedAtBoth() > BEFORE_BACKUP, RECOVERY_MS);
    // What is acknowledged while it is taken may be in it or not.
    acknowledged = new Set();
    pauseMs = PAUSE_IN_BACKUP_MS;
    await takeBaseBackup(testInstance.databaseUrl, join(folder, 'taken'));
    pauseMs = PAUSE_MS;
    expect(acknowledged.size, 'acknowledged while it was taken').to.be.greaterThan(0);
    acknowledged = acknowledgedAfter;
    await until('more to be acknowledged', () => acknowledgedAfter.size > AFTER_BACKUP, RECOVERY_MS);
    sending = false;
    await senders;
    const endsUnknownToIt = () => {
      const ended = new Set(arrived.map(eventOf));
      return [...acknowledgedAfter].filter((id) => ended.has(id)).length;
    };
    await until('ends that the backup does not know', () => endsUnknownToIt() > AFTER_BACKUP / 2, RECOVERY_MS);
    for (const process of [testInstance.api, ...testInstance.workers.splice(0)]) await process.kill();
    downAnswer.status = 200;
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
  });

  let postgres: Postgres | undefined;
  let pool: Pool | undefined;
  afterEach('every test restores the backup again', async () => {
    await Promise.all([testInstance.api.stop(), ...testInstance.workers.splice(0).map((worker) => worker.stop())]);
    await pool?.end();
    await postgres?.service.stop();
  });

  /** Starts a server on a copy of the backup, and Hookyard on that. */
  async function restore(name: string, namespace: string): Promise<Hookyard> {
    const dataDir = join(folder, name);
    await copyTree(join(folder, 'taken'), dataDir);
    for (const own of ['run', 'logs']) mkdirSync(join(dataDir, own));
    const [port = 0] = await freePorts(1);
    postgres = await startPostgres({ dataDir, port, other: chosenPostgres().other, log: () => {} });
    const databaseUrl = postgres.url(new URL(testInstance.databaseUrl).pathname.slice(1));
    const settings = { DATABASE_URL: databaseUrl, TEMPORAL_NAMESPACE: namespace };
    await testInstance.startApi(settings);
    await testInstance.startWorker(settings);
    pool = createPool(databaseUrl, { max: 2, statementTimeoutMs: 20_000, onError: () => {} });
    const restored = {
      ...testInstance,
      pool,
      temporal: new Client({ connection: testInstance.temporal.connection, namespace }),
    };
    // Each look of the test is whole and its own.
    await pauseReconciliation(restored);
    return restored;
  }

  /** Reconciles until everything acknowledged before the backup is delivered. */
  function allDelivered(restored: Hookyard): Promise<boolean> {
    return until(
      'all of them to be delivered',
      async () => {
        // As if the two minutes had passed after which a delivery is overdue.
        await restored.pool.query(
          `update deliveries set next_attempt_at = now() - interval '1 hour' where status = 'retrying' and next_attempt_at < now()`,
        );
        await reconcileNow(restored);
        const { rows } = await restored.pool.query<{ id: string; status: string }>(
          `select id, status from events where id = any($1) and status <> 'delivered'`,
          [[...acknowledgedBefore]],
        );
        if (rows.length > 0) throw new Error(`${rows.length} are not, first ${rows[0]?.id} (${rows[0]?.status})`);
        return true;
      },
      RECOVERY_MS,
    );
  }

  /** @throws Error naming a workflow that runs for one of these events */
  async function noneRuns({ temporal }: Hookyard, eventIds: Set<string>): Promise<boolean> {
    const query = 'WorkflowType = "delivery" and ExecutionStatus = "Running"';
    for await (const { workflowId, searchAttributes } of temporal.workflow.list({ query })) {
      const [eventId] = searchAttributes.EventId ?? [];
      if (eventIds.has(String(eventId))) throw new Error(`${workflowId} runs`);
    }
    return true;
  }

  async function existing(restored: Hookyard, ids: Set<string>): Promise<number> {
    const { rowCount } = await restored.pool.query('select from events where id = any($1)', [[...ids]]);
    return rowCount ?? 0;
  }

  const situations: [situation: string, namespace: () => string][] = [
    ['newer', () => testInstance.temporal.options.namespace],
    ['empty', () => `test-${randomBytes(6).toString('hex')}`],
  ];
  for (const [situation, namespace] of situations) {
    it(`delivers all that was acknowledged before the backup when Temporal is ${situation}`, async () => {
      const sentBefore = new Map([...acknowledgedBefore].map((id) => [id, countOf(arrived, id)]));
      const restored = await restore(situation, namespace());
      expect(await existing(restored, acknowledgedBefore), 'acknowledged before').to.equal(acknowledgedBefore.size);
      expect(await existing(restored, acknowledgedAfter), 'acknowledged after').to.equal(0);
      await allDelivered(restored);
      for (const [id, count] of sentBefore) {
        expect(countOf(arrived, id), 'arrived, and is sent again at most once').to.be.within(1, count + 1);
      }
      expect((await records.event(failedBefore)).status).to.equal('failed');
      await until('the workflows of what is lost to end', () => noneRuns(restored, acknowledgedAfter), RECOVERY_MS);
    });
  }
});

const eventOf = ({ headers }: ReceivedRequest) => String(headers['x-hookyard-event-id']);
const countOf = (requests: ReceivedRequest[], eventId: string) =>
  requests.filter((request) => eventOf(request) === eventId).length;
