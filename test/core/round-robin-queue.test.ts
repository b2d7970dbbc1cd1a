import { expect } from 'chai';
import fc from 'fast-check';
import { RoundRobinQueue } from '../../core/fairness/batcher.ts';

describe('a round-robin queue', () => {
  const entry = (owner: string, name: string) => ({ owner, weight: 1, name });
  const drain = (queue: RoundRobinQueue<ReturnType<typeof entry>>) => {
    const names: string[] = [];
    for (let next = queue.first(); next; next = queue.first()) {
      names.push(next.name);
      queue.shift();
    }
    return names;
  };

  it('keeps the order of one owner, and takes one of each in turn', () => {
    const queue = new RoundRobinQueue<ReturnType<typeof entry>>();
    for (const name of ['a1', 'a2', 'a3']) queue.push(entry('a', name));
    for (const name of ['b1', 'b2']) queue.push(entry('b', name));
    expect([queue.size, queue.weight, queue.of('a').size]).to.deep.equal([5, 5, 3]);
    expect(drain(queue)).to.deep.equal(['a1', 'b1', 'a2', 'b2', 'a3']);
    expect([queue.size, queue.weight, queue.of('a').size]).to.deep.equal([0, 0, 0]);
  });

  it('loses nothing, whatever is added in between', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ owner: fc.constantFrom('a', 'b', 'c'), takes: fc.boolean() })), (steps) => {
        const queue = new RoundRobinQueue<ReturnType<typeof entry>>();
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
