// The queue for the threads of transforms: what waits for long comes first, and who finds no thread in time is told to come back.
import { expect } from 'chai';
import { mock } from 'node:test';
import { TransformQueue, type Waiting } from '../../outbound/transforms/transform-queue.ts';
import { LateTurnError, NoTurnError } from '../../outbound/transforms/index.ts';

describe('the queue for transforms', () => {
  let queue: TransformQueue<Waiting>;
  let refused: { since: number | undefined; error: Error }[];
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    queue = new TransformQueue();
    refused = [];
  });
  afterEach(() => mock.timers.reset());

  function add(since: number | undefined, organizationId = 'greedy', group = 't', code = '$'): void {
    queue.add({
      job: { transform: { key: null, type: 'jsonata', code, outputContentType: null }, event: null },
      turn: { organizationId, group, ...(since !== undefined && { since }) },
      resolve: () => {},
      reject: (error) => refused.push({ since, error }),
    });
  }
  function next(): number | undefined {
    const waiting = queue.next(() => true);
    if (waiting) queue.take(waiting);
    return waiting?.turn.since;
  }

  it('gives the next thread to the oldest of a transform, whenever it came', () => {
    for (const since of [30, 10, 20, 10]) add(since);
    expect([next(), next(), next(), next()]).to.deep.equal([10, 10, 20, 30]);
  });

  it('refuses the youngest of an organization when it has filled its share, and nobody who waits for an answer', () => {
    for (let since = 1000; since < 1499; since += 1) add(since);
    add(undefined);
    expect(refused).to.deep.equal([]);
    add(5000);
    add(1);
    add(undefined);
    expect(refused.map(({ since }) => since)).to.deep.equal([5000, 1498, 1497]);
    for (const { error } of refused) expect(error).to.be.instanceOf(NoTurnError).and.have.property('waitMs', 5000);
    add(7, 'modest');
    expect(refused, 'there is room for others').to.have.length(3);
  });

  it('refuses only the one that comes when all younger ones would not make enough room for it', () => {
    const MiB = 1024 * 1024;
    add(1, 'greedy', 't', 'x'.repeat(60 * MiB));
    for (const since of [11, 12, 13]) add(since, 'greedy', 'u');
    add(10, 'greedy', 't', 'x'.repeat(10 * MiB));
    expect(refused.map(({ since }) => since)).to.deep.equal([10]);
    expect([next(), next(), next(), next()]).to.deep.equal([1, 11, 12, 13]);
  });

  it('tells what has found no thread in time to come back: no work fails for the lack of one', () => {
    add(1);
    add(2);
    expect(next()).to.equal(1);
    mock.timers.tick(20_000);
    expect(refused.map(({ since }) => since)).to.deep.equal([2]);
    expect(refused[0]?.error).to.be.instanceOf(LateTurnError).and.have.property('waitMs', 5000);
    expect(queue.size).to.equal(0);
  });
});
