import { expect } from 'chai';
import { ComputeQueue } from '../../outbound/compute/compute-queue.ts';

const MIB = 1024 * 1024;

describe('what waits for a thread of filters and schemas', () => {
  /** Adds as many as there is room for. */
  function fill(
    queue: ComputeQueue<{ organizationId: string; bytes: number }>,
    organizationId: string,
    bytes = 1,
  ): number {
    let count = 0;
    while (queue.add({ organizationId, bytes })) count += 1;
    return count;
  }

  it('has room for one item of each organization, however much of others waits', () => {
    const queue = new ComputeQueue();
    for (let at = 0; at < 30; at += 1) expect(fill(queue, `greedy_${at}`), `greedy_${at}`).to.be.at.least(1);
    for (let at = 0; at < 500; at += 1) expect(queue.add({ organizationId: `org_${at}`, bytes: MIB })).to.equal(true);
    expect(queue.add({ organizationId: 'org_0', bytes: 1 })).to.equal(false);
  });

  it('is shared: the greedy leave room for several items of the next', () => {
    const queue = new ComputeQueue();
    const taken = Array.from({ length: 12 }, (_, at) => fill(queue, `org_${at}`));
    expect(taken).to.deep.equal([...Array.from({ length: 9 }, () => 100), 50, 25, 13]);
  });

  it('is shared by bytes too', () => {
    const queue = new ComputeQueue();
    const taken = Array.from({ length: 5 }, (_, at) => fill(queue, `org_${at}`, MIB));
    expect(taken).to.deep.equal([64, 64, 64, 32, 16]);
  });

  it('is bounded, whatever the number of organizations', () => {
    const queue = new ComputeQueue();
    for (let at = 0; at < 3000; at += 1) queue.add({ organizationId: `org_${at}`, bytes: 1 });
    expect(queue.size).to.equal(1000);
    for (let at = 0; at < 3000; at += 1) fill(queue, `org_${at}`);
    expect(queue.size).to.be.at.most(2000);
  });

  it('gives back the room of what was taken out', () => {
    const queue = new ComputeQueue();
    for (let at = 0; at < 1000; at += 1) queue.add({ organizationId: `org_${at}`, bytes: MIB });
    for (const item of queue.all()) queue.remove(item, true);
    expect(queue.size).to.equal(0);
    expect(fill(queue, 'org_0')).to.equal(100);
  });
});
