// Repeats: the first of a kind at once, the others as a number.
import { expect } from 'chai';
import { Repeats } from '../../core/process/log.ts';

const EVERY_MS = 1000;

function counted(mostKinds = 10) {
  const clock = { now: 0 };
  const written: [item: string, repeated: number][] = [];
  const repeats = new Repeats<string>({
    everyMs: EVERY_MS,
    mostKinds,
    write: (item, repeated) => written.push([item, repeated]),
    now: () => clock.now,
  });
  return { clock, repeats, written, take: () => written.splice(0) };
}

describe('repeats', () => {
  it('are written as a number when their interval is over, with the last of them', () => {
    const { clock, repeats, take } = counted();
    for (let n = 1; n <= 5; n += 1) repeats.take('away', `away ${n}`);
    expect(take()).to.deep.equal([['away 1', 0]]);
    clock.now = EVERY_MS - 1;
    repeats.look();
    expect(take()).to.deep.equal([]);
    clock.now = EVERY_MS;
    repeats.look();
    expect(take()).to.deep.equal([['away 5', 4]]);
  });

  it('begin again after an interval without any: the next one is written at once', () => {
    const { clock, repeats, take } = counted();
    repeats.take('away', 'first');
    clock.now = EVERY_MS;
    repeats.look();
    expect(repeats.isIdle).to.equal(true);
    repeats.take('away', 'second');
    expect(take()).to.deep.equal([
      ['first', 0],
      ['second', 0],
    ]);
  });

  it('are told apart by kind', () => {
    const { repeats, take } = counted();
    for (const kind of ['a', 'b', 'a', 'b', 'c']) repeats.take(kind, kind);
    expect(take()).to.deep.equal([
      ['a', 0],
      ['b', 0],
      ['c', 0],
    ]);
    repeats.flush();
    expect(take()).to.deep.equal([
      ['a', 1],
      ['b', 1],
    ]);
    repeats.flush();
    expect(take()).to.deep.equal([]);
  });

  it('take bounded memory and few lines, however many kinds there are', () => {
    const { clock, repeats, take } = counted(3);
    for (let n = 0; n < 1000; n += 1) repeats.take(`kind ${n}`, `kind ${n}`);
    expect(take()).to.deep.equal([
      ['kind 0', 0],
      ['kind 1', 0],
      ['kind 2', 0],
      ['kind 3', 0],
    ]);
    clock.now = EVERY_MS;
    repeats.look();
    expect(take(), 'all others together').to.deep.equal([['kind 999', 996]]);
  });
});
