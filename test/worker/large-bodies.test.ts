import { expect } from 'chai';
import { attemptDelivery } from '../../activities/attempt/index.ts';
import type { AttemptOutcome } from '../../activities/types.ts';
import { FairQueue } from '../../core/fairness/fair-queue.ts';
import { type HistoryOwner, makeOwner } from '../support/database/history.ts';
import type { Endpoint } from '../support/receiver.ts';
import { removePayload } from '../support/rows.ts';
import { until } from '../support/until.ts';
import { useEach } from '../support/use-hookyard.ts';
import { useAttempts } from '../support/workflows/attempts.ts';
import { execute, selectValue } from '../support/database/sql.ts';

const LARGE = 100_000;

describe('large payloads of attempts', () => {
  const { database, pool, receiver, worker: workerWith, delivery: deliveryTo } = useAttempts();
  const greedy = useEach(() => makeOwner(database.pool, 1, 1));
  const other = useEach(() => makeOwner(database.pool, 1, 1));

  /** What a worker process has, and the payloads that it has loaded. */
  function worker(limit: number, waitMs: number) {
    const bodies = new FairQueue(limit, 1);
    const loaded: string[] = [];
    const deps = workerWith({ bodies, bodyWaitMs: waitMs });
    const loader = deps.contexts;
    deps.contexts = {
      ...loader,
      loadBody(context) {
        loaded.push(context.deliveryId);
        return loader.loadBody(context);
      },
    };
    return { deps, bodies, loaded };
  }

  const delivery = (owner: HistoryOwner, endpoint: Endpoint, bytes: number) =>
    deliveryTo(owner, endpoint, 'x'.repeat(bytes));

  /** One after the other: each changes the configuration, which events are stored with. */
  async function several(count: number, endpoint: Endpoint) {
    const requests = [];
    while (requests.length < count) requests.push(await delivery(greedy, endpoint, LARGE));
    return requests;
  }

  it('of one organization leave room for others, and what finds none in time waits elsewhere and is no failed attempt', async () => {
    const gate = Promise.withResolvers<void>();
    const slow = receiver.endpoint({ after: gate.promise });
    const fast = receiver.endpoint();
    const { deps, bodies, loaded } = worker(4 * LARGE, 300);
    const requests = await several(5, slow);
    const many: Promise<AttemptOutcome>[] = requests.map((request) => attemptDelivery(deps, request, 'express'));
    await until('what fits to be under way', () => slow.requests.length === 2);
    for (const [owner, bytes] of [
      [greedy, 10],
      [other, 10],
      [other, LARGE],
    ] as const) {
      const endpoint = owner === greedy ? slow : fast;
      const request = await delivery(owner, endpoint, bytes);
      const attempt = attemptDelivery(deps, request, 'express');
      if (owner === other) expect(await attempt).to.include({ status: 'delivered' });
      else many.push(attempt);
    }
    expect(fast.requests.map(({ body }) => body.length)).to.deep.equal([10, LARGE]);
    await until('the small one of the same organization to be under way', () => slow.requests.length === 3);
    const isDeferred = async (attempt: Promise<AttemptOutcome>) =>
      (await Promise.race([attempt, gate.promise]))?.status === 'deferred';
    const deferred = Promise.all(many.map(isDeferred));
    const ids = requests.map(({ deliveryId }) => deliveryId);
    await until(
      'the others to be put off',
      () => selectValue<boolean>(database.pool)`select count(*) = 3 as put from deliveries where id = any(${ids})
        and next_attempt_at is not null and attempt_count = 0 and status = 'pending'`,
    );
    expect(loaded).to.have.length(3);
    expect(bodies.held).to.equal(2 * LARGE);
    gate.resolve();
    expect((await deferred).filter(Boolean)).to.have.length(3);
    const outcomes = (await Promise.all(many)).map(({ status }) => status).sort();
    expect(outcomes).to.deep.equal(['deferred', 'deferred', 'deferred', 'delivered', 'delivered', 'delivered']);
    expect(bodies.held).to.equal(0);
  });

  it('wait for their turn, and all go when there is time', async () => {
    const endpoint = receiver.endpoint();
    const { deps, bodies } = worker(2 * LARGE, 20_000);
    const requests = await several(6, endpoint);
    const outcomes = await Promise.all(requests.map((request) => attemptDelivery(deps, request, 'express')));
    expect(outcomes.map(({ status }) => status)).to.deep.equal(Array.from({ length: 6 }, () => 'delivered'));
    expect(bodies.held).to.equal(0);
  });

  it('go alone when they are larger than all of the memory for them', async () => {
    const endpoint = receiver.endpoint();
    const { deps, bodies } = worker(LARGE / 2, 20_000);
    const requests = [await delivery(greedy, endpoint, LARGE), await delivery(other, endpoint, LARGE)];
    const outcomes = await Promise.all(requests.map((request) => attemptDelivery(deps, request, 'express')));
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['delivered', 'delivered']);
    expect(bodies.held).to.equal(0);
  });

  it('give their memory back when the destination fails, and when they cannot be loaded', async () => {
    const { deps, bodies } = worker(4 * LARGE, 300);
    const refused = await delivery(greedy, receiver.endpoint(500), LARGE);
    expect(await attemptDelivery(deps, refused, 'express')).to.include({ status: 'retrying' });
    expect(bodies.held).to.equal(0);
    const lost = await delivery(greedy, receiver.endpoint(), LARGE);
    const failing = {
      ...deps,
      pool,
      contexts: { ...deps.contexts, loadBody: () => Promise.reject(new Error('away')) },
    };
    const error = await attemptDelivery(failing, lost, 'express').catch((reason: Error) => reason.message);
    expect(error).to.equal('away');
    expect(bodies.held).to.equal(0);
    await removePayload(database.pool, lost.eventId);
    expect(await attemptDelivery(deps, lost, 'express')).to.include({ status: 'failed' });
    expect(bodies.held).to.equal(0);
  });

  it('are not loaded for a delivery of a suspended organization, or one that has ended', async () => {
    const { deps, loaded } = worker(4 * LARGE, 300);
    const request = await delivery(greedy, receiver.endpoint(), LARGE);
    const suspended = { ...deps, isSuspended: () => true };
    expect(await attemptDelivery(suspended, request, 'express')).to.include({ status: 'deferred' });
    await execute(database.pool)`update deliveries set status = 'failed', attempt_count = 1
      where id = ${request.deliveryId}`;
    expect(await attemptDelivery(deps, request, 'express')).to.include({ status: 'failed' });
    expect(loaded).to.deep.equal([]);
  });
});
