import { expect } from 'chai';
import fc from 'fast-check';
import { leftFor } from '../../core/fair-share.ts';
import { type Leave, Places } from '../../core/places.ts';
import { TurnQueue } from '../../core/turn-queue.ts';

/** Takes as many as it gets. */
function fill(places: Places, organizationId: string): Leave[] {
  const taken: Leave[] = [];
  for (let leave = places.take(organizationId); leave; leave = places.take(organizationId)) taken.push(leave);
  return taken;
}

describe('what organizations share', () => {
  it('is all for one that is alone', () => {
    expect(leftFor({ limit: 100, taken: 30, alone: true }, 30)).to.equal(70);
    expect(fill(new Places(10, () => true), 'org_1')).to.have.length(10);
  });

  it('leaves as much as the greediest has', () => {
    const places = new Places(200, () => false);
    const taken = Array.from({ length: 5 }, (_, at) => fill(places, `org_${at}`).length);
    expect(taken).to.deep.equal([100, 50, 25, 13, 6]);
  });

  it('is never all taken by fewer than there are places', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 60 }), fc.array(fc.integer({ min: 0, max: 5 })), (limit, order) => {
        const places = new Places(limit, () => false);
        let taken = 0;
        for (const organization of order) if (places.take(`org_${organization}`)) taken += 1;
        if (taken < limit) expect(places.take('org_new'), `${taken} of ${limit}`).to.not.equal(null);
      }),
    );
  });

  it('is given back once', () => {
    const places = new Places(2, () => false);
    const leave = places.take('org_1');
    expect(places.take('org_1')).to.equal(null);
    leave?.();
    expect(places.take('org_1')).to.not.equal(null);
  });
});

describe('a queue in turns', () => {
  const entry = (owner: string, name: string) => ({ owner, weight: 1, name });
  const drain = (queue: TurnQueue<ReturnType<typeof entry>>) => {
    const names: string[] = [];
    for (let next = queue.first(); next; next = queue.first()) {
      names.push(next.name);
      queue.shift();
    }
    return names;
  };

  it('keeps the order of one owner, and takes one of each in turn', () => {
    const queue = new TurnQueue<ReturnType<typeof entry>>();
    for (const name of ['a1', 'a2', 'a3']) queue.push(entry('a', name));
    for (const name of ['b1', 'b2']) queue.push(entry('b', name));
    expect([queue.size, queue.weight, queue.of('a').size]).to.deep.equal([5, 5, 3]);
    expect(drain(queue)).to.deep.equal(['a1', 'b1', 'a2', 'b2', 'a3']);
    expect([queue.size, queue.weight, queue.of('a').size]).to.deep.equal([0, 0, 0]);
  });

  it('loses nothing, whatever is added in between', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ owner: fc.constantFrom('a', 'b', 'c'), takes: fc.boolean() })), (steps) => {
        const queue = new TurnQueue<ReturnType<typeof entry>>();
        const added = new Map<string, string[]>();
        const taken = new Map<string, string[]>();
        const note = (into: Map<string, string[]>, { owner, name }: { owner: string; name: string }) =>
          into.set(owner, [...(into.get(owner) ?? []), name]);
        const take = () => {
          const next = queue.first();
          if (next) note(taken, next);
          queue.shift();
        };
        for (const [at, { owner, takes }] of steps.entries()) {
          if (takes) take();
          const next = entry(owner, `${owner}${at}`);
          note(added, next);
          queue.push(next);
        }
        while (queue.size > 0) take();
        for (const [owner, names] of added) expect(taken.get(owner)).to.deep.equal(names);
      }),
    );
  });
});
