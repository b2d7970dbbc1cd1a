import { expect } from 'chai';
import { attemptDelivery } from '../../activities/attempt/index.ts';
import { recordAttempt } from '../../activities/attempt/outcomes.ts';
import type { UnrecordedAttempt } from '../../activities/types.ts';
import { ownWords } from '../../core/text/error-summary.ts';
import { createPool } from '../../db/connections/pool.ts';
import { firstRoute, makeOwner } from '../support/database/history.ts';
import type { Answer } from '../support/receiver.ts';
import { readOnlySwitch } from '../support/servers/read-only.ts';
import { inOpenTransaction } from '../support/database/row-lock.ts';
import { until } from '../support/until.ts';
import { useEach } from '../support/use-hookyard.ts';
import { useAttempts } from '../support/workflows/attempts.ts';
import { execute, selectRows } from '../support/database/sql.ts';

describe('an attempt whose result the database does not take', () => {
  const { database, receiver, worker, delivery: deliveryTo } = useAttempts();
  const owner = useEach(() => makeOwner(database.pool, 1, 1));
  let refused = 0;

  /** A delivery, its first attempt, and where that goes. */
  async function delivery(...answers: Answer[]) {
    const endpoint = receiver.endpoint(...answers);
    return { endpoint, request: await deliveryTo(owner, endpoint), route: firstRoute(owner) };
  }

  async function recorded(deliveryId: string) {
    const rows = await selectRows<{ status: string; attempts: number; requestHeaders: object }>(database.pool)`
      select d.status, count(a.*) as attempts, max(a.request_headers::text)::json as "requestHeaders"
      from deliveries d left join attempts a on a.delivery_id = d.id where d.id = ${deliveryId} group by d.id, d.status`;
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
    const deps = worker({ awaitRecordMs: 300 });
    const attempt = attemptDelivery(deps, request, 'workflow');
    await until('the attempt', () => endpoint.requests.length === 1);
    await withoutWrites(async () => {
      gate.resolve();
      const unrecorded = { status: 'unrecorded', attempt: 1, deliveryStatus: 'retrying', statusCode: 500 };
      expect(await attempt).to.include(unrecorded);
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
    const deps = worker({ ending: ending.signal });
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

  it('is recorded by another process from what the workflow has, once', async () => {
    const { endpoint, request, route } = await delivery();
    await execute(database.pool)`update routes
      set failover_destination_ids = ${[route.failoverId]}, failover_after_attempts = 1, version = version + 1
      where id = ${route.id}`;
    const made: UnrecordedAttempt = {
      status: 'unrecorded',
      attempt: 1,
      deliveryStatus: 'retrying',
      statusCode: 503,
      error: ownWords`The destination returned 503`,
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
    const attempt = attemptDelivery(worker({ awaitRecordMs: 1 }), request, 'express');
    await until('the attempt', () => endpoint.requests.length === 1);
    await withoutWrites(async () => gate.resolve());
    expect(await attempt).to.deep.equal({ status: 'delivered', statusCode: 200, error: null });
    expect(await recorded(request.deliveryId)).to.include({ status: 'delivered', attempts: 1 });
  });

  it('goes to the failover destination although destinations cannot be read when the first one has answered', async () => {
    const gate = Promise.withResolvers<void>();
    const { endpoint, request, route } = await delivery({ status: 500, after: gate.promise });
    await execute(database.pool)`update routes
      set failover_destination_ids = ${[route.failoverId]}, failover_after_attempts = 1, version = version + 1
      where id = ${route.id}`;
    const options = { max: 2, statementTimeoutMs: 1000, onError: () => {}, hotPath: true };
    const hasty = createPool(database.databaseUrl, options);
    hasty.on('release', (error) => {
      if (error) refused += 1;
    });
    const attempt = attemptDelivery(worker({ pool: hasty }), request, 'workflow');
    await until('the attempt', () => endpoint.requests.length === 1);
    await inOpenTransaction(database.pool, async (other) => {
      await other.query('lock table destinations in access exclusive mode');
      gate.resolve();
      // Longer than a statement may take.
      await until('a statement to be given up', () => refused > 0);
    });
    expect((await attempt).status).to.equal('failed_over');
    await hasty.end();
    expect(await recorded(request.deliveryId)).to.include({ status: 'failed_over', attempts: 1 });
    expect(endpoint.requests).to.have.length(1);
  });
});
