import { expect } from 'chai';
import fc from 'fast-check';
import { FairQueue } from '../../core/fairness/fair-queue.ts';

const options = { waitMs: 60_000 };

function fill(queue: FairQueue, organizationId: string): number {
  let taken = 0;
  while (queue.hold(organizationId)) taken += 1;
  return taken;
}

/** Lets what was admitted go on. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('what organizations share', () => {
  it('is left in part by each of them', () => {
    const queue = new FairQueue(400);
    const taken = Array.from({ length: 4 }, (_, at) => fill(queue, `org_${at}`));
    expect(taken).to.deep.equal([300, 75, 18, 5]);
  });

  it('is never all taken by fewer than there are slots', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 60 }), fc.array(fc.integer({ min: 0, max: 5 })), (limit, order) => {
        const queue = new FairQueue(limit);
        for (const organization of order) queue.hold(`org_${organization}`);
        if (queue.held < limit) expect(queue.hold('org_new'), `${queue.held} of ${limit}`).to.equal(true);
      }),
    );
  });

  it('says how many an organization gets', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.array(fc.integer({ min: 0, max: 5 })), (limit, order) => {
        const queue = new FairQueue(limit);
        for (const organization of order) queue.hold(`org_${organization}`);
        const room = queue.roomFor('org_0');
        expect(fill(queue, 'org_0')).to.equal(room);
      }),
    );
  });

  it('has room again for what was given back', () => {
    const queue = new FairQueue(2);
    expect([queue.hold('org_1'), queue.hold('org_1')]).to.deep.equal([true, false]);
    queue.release('org_1');
    expect([queue.hold('org_1'), queue.heldBy('org_1'), queue.held]).to.deep.equal([true, 1, 1]);
  });

  it('counts what is limited elsewhere, also beyond the limit', () => {
    const queue = new FairQueue(4);
    const leaves = Array.from({ length: 5 }, () => queue.enter('org_1'));
    expect([queue.held, queue.isFull, queue.roomFor('org_1'), queue.roomFor('org_2')]).to.deep.equal([5, true, 0, 0]);
    expect(queue.takeNow('org_2')).to.equal(null);
    for (const leave of leaves.slice(0, 2)) leave();
    expect([queue.roomFor('org_1'), queue.roomFor('org_2')]).to.deep.equal([0, 1]);
    expect(queue.takeNow('org_2')).to.not.equal(null);
    expect(queue.holders).to.deep.equal(['org_1', 'org_2']);
    for (const leave of leaves.slice(2)) leave();
    expect(queue.holders).to.deep.equal(['org_2']);
  });

  it('admits those that wait by turns of their organizations', async () => {
    const queue = new FairQueue(4);
    expect(fill(queue, 'org_a')).to.equal(3);
    const order: string[] = [];
    const wait = async (organizationId: string, name: string) => {
      const leave = await queue.take(organizationId, options);
      order.push(name);
      await settled();
      leave?.();
    };
    const waiting = ['a1', 'a2', 'a3'].map((name) => wait('org_a', name));
    // Not behind those of the other organization.
    await wait('org_b', 'b1');
    expect(order).to.deep.equal(['b1']);
    waiting.push(wait('org_b', 'b2'), wait('org_b', 'b3'), wait('org_b', 'b4'));
    queue.release('org_a', 3);
    await Promise.all(waiting);
    expect([...order].sort()).to.deep.equal(['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'b4']);
    expect(order.indexOf('b3')).to.be.lessThan(order.indexOf('a3'));
    expect(queue.held).to.equal(0);
  });

  it('makes room for a large amount, whatever small ones come', async () => {
    const queue = new FairQueue(100);
    for (const organization of ['org_a', 'org_b']) queue.hold(organization, 20);
    const large = queue.take('org_large', { ...options, amount: 90 });
    let small = false;
    void queue.take('org_c', { ...options, amount: 10 }).then(() => {
      small = true;
    });
    queue.release('org_a', 20);
    await settled();
    expect(small).to.equal(false);
    queue.release('org_b', 20);
    await large;
    await settled();
    expect(small).to.equal(true);
  });

  it('gives an amount above the limit when it holds nothing else', async () => {
    const queue = new FairQueue(10);
    expect(queue.hold('org_a', 1)).to.equal(true);
    const large = queue.take('org_b', { ...options, amount: 11 });
    queue.release('org_a', 1);
    (await large)?.();
    expect(queue.held).to.equal(0);
  });

  it('refuses one that waits too long, and forgets it', async () => {
    const queue = new FairQueue(2);
    const leave = await queue.take('org_a', options);
    expect(await queue.take('org_a', { ...options, waitMs: 1 })).to.equal(null);
    leave?.();
    await queue.take('org_a', options);
  });
});
