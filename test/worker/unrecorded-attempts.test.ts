// Attempts whose result the database does not take: the destination has the event, so the result is kept and nothing is sent again.
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { ownWords } from '../../core/text/error-summary.ts';
import { DestinationConcurrency } from '../../core/delivery/destination-concurrency.ts';
import { type AttemptDeps, attemptDelivery } from '../../activities/attempt/index.ts';
import { type ActivityDeps, createActivities } from '../../activities/index.ts';
import { createConfigCache } from '../../activities/config-cache.ts';
import { createSender } from '../../outbound/http/sender.ts';
import { PendingOpenings } from '../../activities/attempt/admission.ts';
import { recordAttempt } from '../../activities/attempt/outcomes.ts';
import { createContextLoader, createResultRecorder } from '../../activities/attempt/results.ts';
import { createRetrySlots } from '../../activities/attempt/retry-slots.ts';
import type { AttemptRequest, UnrecordedAttempt } from '../../activities/types.ts';
import { readSettings } from '../../core/config/config.ts';
import { FairQueue } from '../../core/fairness/fair-queue.ts';
import { IssueCounts } from '../../core/messages/issue-counts.ts';
import { createLog } from '../../core/process/log.ts';
import { WorkflowPermits } from '../../core/fairness/workflow-permits.ts';
import { SecretBox } from '../../db/encryption/secret-box.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { type HistoryOwner, makeOwner, storeEvent } from '../support/database/history.ts';
import { readOnlySwitch } from '../support/servers/read-only.ts';
import type { Answer } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { testThreads } from '../support/threads.ts';
import { useHistoryDatabase, useReceiver } from '../support/use-hookyard.ts';

describe('an attempt whose result the database does not take', () => {
  const { database } = useHistoryDatabase(1);
  let pool: Pool;
  const receiver = useReceiver();
  let shared: Pick<AttemptDeps, 'sender' | 'threads' | 'configs' | 'contexts' | 'bodies' | 'bodyWaitMs'>;
  let owner: HistoryOwner;
  let refused = 0;
  const issues = new IssueCounts();
  const log = createLog({ ...readSettings({}), LOG_LEVEL: 'silent' }, 'worker');
  before(async () => {
    pool = createPool(database.databaseUrl, { max: 4, statementTimeoutMs: 10_000, onError: () => {}, hotPath: true });
    shared = {
      sender: createSender({ allow: ['127.0.0.1'] }),
      threads: testThreads(1),
      configs: createConfigCache(pool, new SecretBox([{ id: 'k1', key: randomBytes(32) }]), () => false),
      contexts: createContextLoader(pool),
      bodies: new FairQueue(268_435_456, 1),
      bodyWaitMs: 5000,
    };
  });
  after(async () => {
    await Promise.all([shared.sender.close(), shared.threads.close()]);
    await pool.end();
  });
  beforeEach(async () => {
    owner = await makeOwner(database.pool, 1, 1);
  });

  /** What a worker process has. */
  const worker = (awaitRecordMs = 30_000, recordingPool = pool): AttemptDeps => ({
    ...shared,
    pool: recordingPool,
    log,
    awaitRecordMs,
    results: createResultRecorder(recordingPool, log, issues),
    issues,
    pendingOpenings: new PendingOpenings(),
    isSuspended: () => false,
    onSlot: () => {},
    concurrency: new DestinationConcurrency(50),
    hasPermit: () => false,
    onRoom: () => {},
    onAnswered: () => {},
    headerPrefix: 'X-Hookyard-',
    version: '0',
  });

  /** A delivery, its first attempt, and where that goes. */
  async function delivery(...answers: Answer[]) {
    const endpoint = receiver.endpoint(...answers);
    const [route] = owner.routes;
    if (!route) throw new Error('a route was asked for');
    await database.pool.query('update destinations set url = $2, version = version + 1 where id = any($1)', [
      [...route.destinationIds, route.failoverId],
      endpoint.url,
    ]);
    const event = await storeEvent(database.pool, owner, route, { receivedAt: new Date(), statuses: ['pending'] });
    const deliveryId = event.deliveries[0]?.id ?? '';
    const { organizationId } = owner;
    const request: AttemptRequest = { organizationId, deliveryId, eventId: event.id, attempt: 1, retryDelay: 1000 };
    return { endpoint, request, route };
  }

  async function recorded(deliveryId: string) {
    const { rows } = await database.pool.query<{ status: string; attempts: number; requestHeaders: object }>(
      `select d.status, count(a.*) as attempts, max(a.request_headers::text)::json as "requestHeaders"
       from deliveries d left join attempts a on a.delivery_id = d.id where d.id = $1 group by d.id, d.status`,
      [deliveryId],
    );
    return rows[0];
  }

  /** Runs `act` while the database takes no writes, from the moment on in which an attempt is under way. */
  async function withoutWrites(act: () => Promise<void>): Promise<void> {
    const server = readOnlySwitch(database.databaseUrl);
    await server.on();
    try {
      await act();
    } finally {
      await server.off();
    }
  }

  it('is given to the workflow after a while, and recorded with all of it by the process that made it', async () => {
    const gate = Promise.withResolvers<void>();
    const { endpoint, request } = await delivery({ status: 500, after: gate.promise });
    const deps = worker(300);
    const attempt = attemptDelivery(deps, request, 'workflow');
    await until('the attempt', () => endpoint.requests.length === 1);
    await withoutWrites(async () => {
      gate.resolve();
      expect(await attempt).to.include({
        status: 'unrecorded',
        attempt: 1,
        deliveryStatus: 'retrying',
        statusCode: 500,
      });
      const again = await attemptDelivery(deps, request, 'workflow');
      expect(again.status, 'the same attempt asked for again').to.equal('unrecorded');
    });
    const later = await recordAttempt(deps, { ...request, made: (await attempt) as UnrecordedAttempt });
    expect(later).to.include({ status: 'retrying', statusCode: 500 });
    const row = await recorded(request.deliveryId);
    expect(row).to.include({ status: 'retrying', attempts: 1 });
    expect(row?.requestHeaders).to.include.keys('X-Hookyard-Attempt');
    expect(endpoint.requests).to.have.length(1);
  });

  it('is given to the workflow when the worker ends, which records it in its last moments if it can', async () => {
    const gate = Promise.withResolvers<void>();
    const ending = new AbortController();
    const { endpoint, request } = await delivery({ after: gate.promise });
    const deps = { ...worker(), ending: ending.signal };
    const attempt = attemptDelivery(deps, request, 'workflow');
    await until('the attempt', () => endpoint.requests.length === 1);
    await withoutWrites(async () => {
      gate.resolve();
      await until('the result', () => deps.results.underWay(request.deliveryId));
      ending.abort();
      expect(await attempt).to.include({ status: 'unrecorded', deliveryStatus: 'delivered' });
    });
    await deps.results.idle();
    expect(await recorded(request.deliveryId)).to.include({ status: 'delivered', attempts: 1 });
  });

  it('is given to the workflow soon by a local activity, which keeps a workflow task meanwhile', async () => {
    const gate = Promise.withResolvers<void>();
    const { endpoint, request } = await delivery({ after: gate.promise });
    const never = 3_600_000;
    const workflowPermits = new WorkflowPermits({ permits: 1, alone: () => true });
    const retrySlots = createRetrySlots({ pool, slots: 4, workflowPermits });
    const deps = { ...worker(never), retrySlots, onBegun: () => {}, onRecorded: () => {} } as unknown as ActivityDeps;
    const info = { isLocal: true, startToCloseTimeoutMs: never };
    const context = { info, cancellationSignal: new AbortController().signal } as Context;
    const attempt = asyncLocalStorage.run(context, () => createActivities(deps).attemptDelivery(request));
    await until('the attempt', () => endpoint.requests.length === 1);
    await withoutWrites(async () => {
      gate.resolve();
      expect(await attempt).to.include({ status: 'unrecorded', deliveryStatus: 'delivered' });
    });
    await until('it to be recorded', async () => (await recorded(request.deliveryId))?.status === 'delivered');
  });

  it('does not stand for the next attempt', async () => {
    const gate = Promise.withResolvers<void>();
    const { endpoint, request } = await delivery({ status: 500, after: gate.promise });
    const deps = worker(100);
    const attempt = attemptDelivery(deps, request, 'workflow');
    await until('the attempt', () => endpoint.requests.length === 1);
    await withoutWrites(async () => {
      gate.resolve();
      expect((await attempt).status).to.equal('unrecorded');
      const next = attemptDelivery(deps, { ...request, attempt: 2 }, 'workflow');
      expect(await next).to.include({ status: 'unrecorded', attempt: 2 });
    });
  });

  it('is recorded by another process from what the workflow has, once', async () => {
    const { endpoint, request, route } = await delivery();
    await database.pool.query(
      'update routes set failover_destination_ids = $2, failover_after_attempts = 1, version = version + 1 where id = $1',
      [route.id, [route.failoverId]],
    );
    const made: UnrecordedAttempt = {
      status: 'unrecorded',
      attempt: 1,
      deliveryStatus: 'retrying',
      statusCode: 503,
      error: ownWords`The destination answered 503`,
      latency: 12,
      startedAt: new Date().toISOString(),
      completedAt: new Date().toISOString(),
      waitMs: 1000,
    };
    const deps = worker();
    for (let times = 1; times <= 2; times += 1) {
      const outcome = await recordAttempt(deps, { ...request, made });
      expect(outcome).to.include({ status: 'failed_over', statusCode: 503 });
    }
    expect(await recorded(request.deliveryId)).to.include({ status: 'failed_over', attempts: 1 });
    expect(endpoint.requests).to.have.length(0);
  });

  it('is awaited by the relay for as long as it takes', async () => {
    const gate = Promise.withResolvers<void>();
    const { endpoint, request } = await delivery({ after: gate.promise });
    const attempt = attemptDelivery(worker(1), request, 'express');
    await until('the attempt', () => endpoint.requests.length === 1);
    await withoutWrites(async () => gate.resolve());
    expect(await attempt).to.deep.equal({ status: 'delivered', statusCode: 200, error: null });
    expect(await recorded(request.deliveryId)).to.include({ status: 'delivered', attempts: 1 });
  });

  it('goes to the failover destination although destinations cannot be read when the first one has answered', async () => {
    const gate = Promise.withResolvers<void>();
    const { endpoint, request, route } = await delivery({ status: 500, after: gate.promise });
    await database.pool.query(
      'update routes set failover_destination_ids = $2, failover_after_attempts = 1, version = version + 1 where id = $1',
      [route.id, [route.failoverId]],
    );
    const hasty = createPool(database.databaseUrl, {
      max: 2,
      statementTimeoutMs: 1000,
      onError: () => {},
      hotPath: true,
    });
    hasty.on('release', (error) => {
      if (error) refused += 1;
    });
    const attempt = attemptDelivery(worker(30_000, hasty), request, 'workflow');
    await until('the attempt', () => endpoint.requests.length === 1);
    const other = await database.pool.connect();
    await other.query('begin; lock table destinations in access exclusive mode');
    gate.resolve();
    // Longer than a statement may take.
    await until('a statement to be given up', () => refused > 0);
    await other.query('rollback');
    other.release();
    expect((await attempt).status).to.equal('failed_over');
    await hasty.end();
    expect(await recorded(request.deliveryId)).to.include({ status: 'failed_over', attempts: 1 });
    expect(endpoint.requests).to.have.length(1);
  });
});
