import { expect } from 'chai';
import { PackedSums } from '../../core/packed-sums.ts';

describe('packed sums', () => {
  it('add what has the same key, and are in the order of their keys', () => {
    const sums = new PackedSums(2, 3);
    sums.add([7, 200, 1, 2, 3, 10, -1, 0, 0, 5]);
    sums.add([7, 100, 1, 0, 0, 7, 200, 10, 20, 2 ** 50]);
    expect(sums.packed()).to.deep.equal([7, 100, 1, 0, 0, 7, 200, 11, 22, 2 ** 50 + 3, 10, -1, 0, 0, 5]);
    const again = new PackedSums(2, 3);
    again.add(sums.packed());
    expect(again.packed()).to.deep.equal(sums.packed());
  });

  it('do not change what was added', () => {
    const sums = new PackedSums(1, 1);
    const [one, other] = [
      [5, 1],
      [5, 2],
    ];
    sums.add(one);
    sums.add(other);
    sums.add(one);
    expect([one, other, sums.packed()]).to.deep.equal([
      [5, 1],
      [5, 2],
      [5, 4],
    ]);
  });

  it('are nothing of nothing', () => {
    expect(new PackedSums(1, 1).packed()).to.deep.equal([]);
  });
});
