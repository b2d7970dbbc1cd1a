import { expect } from 'chai';
import { Batcher, BatcherFullError, type BatcherOptions } from '../../core/fairness/batcher.ts';
import { useClock } from '../support/clock.ts';

/** A batcher whose groups end when the test says so. */
function controlled(options: Partial<BatcherOptions<number, number>> = {}) {
  const groups: { items: number[]; finish: () => void; fail: (error: Error) => void }[] = [];
  const batcher = new Batcher<number, number>({
    run: (items) =>
      new Promise((resolve, reject) => {
        groups.push({ items, finish: () => resolve(items.map((item) => item * 10)), fail: reject });
      }),
    weigh: (item) => item,
    maxItems: 10,
    concurrency: 1,
    maxQueued: 100,
    ...options,
  });
  return { batcher, groups };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('the batcher', () => {
  const { pass } = useClock();

  it('puts what arrives in one turn into one group and gives each item its own result', async () => {
    const { batcher, groups } = controlled();
    const results = Promise.all([batcher.submit(1), batcher.submit(2), batcher.submit(3)]);
    await turn();
    expect(groups.map((group) => group.items)).to.deep.equal([[1, 2, 3]]);
    groups[0]?.finish();
    expect(await results).to.deep.equal([10, 20, 30]);
  });

  it('collects what arrives while a group runs into the next one', async () => {
    const { batcher, groups } = controlled();
    const first = batcher.submit(1);
    await turn();
    const others = Promise.all([batcher.submit(2), batcher.submit(3)]);
    await turn();
    expect(groups).to.have.length(1);
    groups[0]?.finish();
    await first;
    await turn();
    expect(groups[1]?.items).to.deep.equal([2, 3]);
    groups[1]?.finish();
    await others;
  });

  it('starts groups no closer together than it is told, and the first one at once', async () => {
    const { batcher, groups } = controlled({ spacingMs: 500 });
    const first = batcher.submit(1);
    await turn();
    expect(groups).to.have.length(1);
    groups[0]?.finish();
    await first;
    const second = batcher.submit(2);
    await turn();
    const third = batcher.submit(3);
    await pass(499);
    expect(groups).to.have.length(1);
    await pass(1);
    expect(groups[1]?.items).to.deep.equal([2, 3]);
    groups[1]?.finish();
    expect(await Promise.all([second, third])).to.deep.equal([20, 30]);
  });

  describe('that lets items wait for others', () => {
    const HOUR = 3_600_000;
    const linger = { ms: HOUR, maxItems: 3, isUrgent: (item: number) => item > 100 };

    it('starts a group when the first has waited for long enough', async () => {
      const { batcher, groups } = controlled({ linger: { ...linger, ms: 50 } });
      const first = batcher.submit(1);
      await turn();
      const second = batcher.submit(2);
      await pass(49);
      expect(groups).to.have.length(0);
      await pass(1);
      groups[0]?.finish();
      expect(await Promise.all([first, second])).to.deep.equal([10, 20]);
    });

    it('starts it when enough of them wait', async () => {
      const { batcher, groups } = controlled({ linger });
      const all = Promise.all([1, 2, 3].map((item) => batcher.submit(item)));
      await turn();
      expect(groups[0]?.items).to.deep.equal([1, 2, 3]);
      groups[0]?.finish();
      await all;
    });

    it('starts it with an urgent one, and lets later ones wait again', async () => {
      const { batcher, groups } = controlled({ linger });
      const all = [batcher.submit(1)];
      await turn();
      expect(groups).to.have.length(0);
      all.push(batcher.submit(101));
      await turn();
      expect(groups[0]?.items).to.deep.equal([1, 101]);
      groups[0]?.finish();
      await Promise.all(all);
      const later = batcher.submit(2);
      await turn();
      expect(groups).to.have.length(1);
      const urgent = batcher.submit(102);
      await turn();
      groups[1]?.finish();
      expect(await Promise.all([later, urgent])).to.deep.equal([20, 1020]);
    });

    it('starts the next group with what came while one ran, when that is urgent', async () => {
      const { batcher, groups } = controlled({ linger });
      const running = batcher.submit(101);
      await turn();
      const others = Promise.all([batcher.submit(1), batcher.submit(102)]);
      groups[0]?.finish();
      await running;
      await turn();
      expect(groups[1]?.items).to.deep.equal([1, 102]);
      groups[1]?.finish();
      await others;
    });

    it('does not wait when its owner waits for the end', async () => {
      const { batcher, groups } = controlled({ linger });
      const last = batcher.submit(1);
      await turn();
      const idle = batcher.idle();
      await turn();
      groups[0]?.finish();
      expect(await last).to.equal(10);
      await idle;
    });
  });

  it('runs as many groups at once as it may, and no more', async () => {
    const { batcher, groups } = controlled({ maxItems: 1, concurrency: 2 });
    const all = Promise.all([1, 2, 3].map((item) => batcher.submit(item)));
    await turn();
    await turn();
    await turn();
    expect(groups).to.have.length(2);
    groups[0]?.finish();
    await turn();
    await turn();
    expect(groups).to.have.length(3);
    for (const group of groups) group.finish();
    await all;
  });

  it('limits a group by weight, but takes a heavy item alone', async () => {
    const { batcher, groups } = controlled({ maxWeight: 10, concurrency: 5 });
    const all = Promise.all([4, 4, 4, 50, 1].map((item) => batcher.submit(item)));
    for (let i = 0; i < 6; i += 1) await turn();
    expect(groups.map((group) => group.items)).to.deep.equal([[4, 4], [4], [50], [1]]);
    for (const group of groups) group.finish();
    await all;
  });

  it('rejects every item of a group that fails, and continues', async () => {
    const { batcher, groups } = controlled();
    const failed = [batcher.submit(1), batcher.submit(2)].map((result) =>
      result.catch((error: Error) => error.message),
    );
    await turn();
    groups[0]?.fail(new Error('no database'));
    expect(await Promise.all(failed)).to.deep.equal(['no database', 'no database']);
    const next = batcher.submit(3);
    await turn();
    groups[1]?.finish();
    expect(await next).to.equal(30);
  });

  it('serves owners in turn, and keeps room in its queue for others', async () => {
    const ownerOf = (item: number) => (item < 10 ? 'a' : 'b');
    const { batcher, groups } = controlled({ ownerOf, maxItems: 2, concurrency: 9, maxQueued: 8 });
    const taken = [1, 2, 3, 4, 5, 6].map((item) => batcher.submit(item));
    expect(await batcher.submit(7).catch((error: unknown) => error)).to.be.instanceOf(BatcherFullError);
    taken.push(batcher.submit(11));
    for (let i = 0; i < 5; i += 1) await turn();
    expect(groups.map(({ items }) => items)).to.deep.equal([[1, 11], [2, 3], [4, 5], [6]]);
    for (const group of groups) group.finish();
    await Promise.all(taken);
  });

  it('refuses more than may wait', async () => {
    const { batcher, groups } = controlled({ maxQueued: 2 });
    const accepted = [batcher.submit(1), batcher.submit(2)];
    const refused = await batcher.submit(3).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(BatcherFullError);
    await turn();
    groups[0]?.finish();
    await Promise.all(accepted);
  });

  it('refuses more weight than may wait, but takes a heavy item alone, and leaves room to others', async () => {
    const { batcher, groups } = controlled({ maxQueuedWeight: 10 });
    const isTaken = (of: typeof batcher, item: number) =>
      Promise.race([of.submit(item).catch((error: unknown) => error), turn()]).then((outcome) => outcome === undefined);
    expect([await isTaken(batcher, 50), groups.length]).to.deep.equal([true, 1]);
    expect([await isTaken(batcher, 50), await isTaken(batcher, 1)]).to.deep.equal([true, false]);
    const second = controlled({ maxQueuedWeight: 10, concurrency: 0 }).batcher;
    expect([await isTaken(second, 4), await isTaken(second, 6), await isTaken(second, 1)]).to.deep.equal([
      ...[true, true, false],
    ]);
    const ownerOf = (item: number) => (item < 10 ? 'a' : 'b');
    const shared = controlled({ maxQueuedWeight: 50, concurrency: 0, ownerOf }).batcher;
    const taken = [];
    for (const item of [9, 9, 9, 9, 9, 10]) taken.push(await isTaken(shared, item));
    expect(taken).to.deep.equal([true, true, true, true, false, true]);
  });

  it('is idle when everything submitted has been handled', async () => {
    const { batcher, groups } = controlled();
    await batcher.idle();
    const result = batcher.submit(1);
    let idle = false;
    const waiting = batcher.idle().then(() => {
      idle = true;
    });
    await turn();
    expect(idle).to.equal(false);
    groups[0]?.finish();
    await Promise.all([result, waiting]);
    expect(idle).to.equal(true);
  });
});
