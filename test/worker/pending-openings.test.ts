import { expect } from 'chai';
import { PendingOpenings } from '../../activities/attempt/admission.ts';

const THRESHOLD = 3;

describe('circuits that are about to open', () => {
  /** A result that is recorded only on command. */
  function unrecorded(): { promise: Promise<void>; settle: () => void; fail: () => void } {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    return { promise, settle: resolve, fail: () => reject(new Error('the database is away')) };
  }

  function failing(times: number) {
    const pendingOpenings = new PendingOpenings();
    const results = Array.from({ length: times }, unrecorded);
    for (const { promise } of results) pendingOpenings.failed('rte_1', promise);
    return { pendingOpenings, results };
  }

  it('are waited for from the failure that reaches the threshold until all failures are recorded', async () => {
    const { pendingOpenings, results } = failing(THRESHOLD - 1);
    expect(pendingOpenings.awaited('rte_1', THRESHOLD), 'before').to.equal(undefined);
    const last = unrecorded();
    pendingOpenings.failed('rte_1', last.promise);
    let over = false;
    const awaited = pendingOpenings.awaited('rte_1', THRESHOLD)?.then(() => {
      over = true;
    });
    last.settle();
    await last.promise;
    expect(over, 'with two that are not recorded').to.equal(false);
    results[0]?.settle();
    results[1]?.fail();
    await awaited;
    expect(pendingOpenings.awaited('rte_1', THRESHOLD), 'afterwards').to.equal(undefined);
  });

  it('are those of one route', () => {
    const { pendingOpenings } = failing(THRESHOLD);
    expect(pendingOpenings.awaited('rte_1', THRESHOLD)).to.be.a('promise');
    expect(pendingOpenings.awaited('rte_2', THRESHOLD)).to.equal(undefined);
  });

  it('are not waited for after a success, or when they have turned out to be closed', () => {
    const succeeded = failing(THRESHOLD).pendingOpenings;
    succeeded.succeeded('rte_1');
    expect(succeeded.awaited('rte_1', THRESHOLD)).to.equal(undefined);
    const closed = failing(THRESHOLD).pendingOpenings;
    closed.forget('rte_1');
    expect(closed.awaited('rte_1', THRESHOLD)).to.equal(undefined);
  });
});
