// The figure of benches that compare two services: the median of pairs of turns, and how sure it is.
import { expect } from 'chai';
import { addedBy, describeAdded, type Pair } from '../../bench/support/beside.ts';

const pairs = (percents: number[]): Pair[] =>
  percents.map((percent) => ({ without: 1, withFeature: 1 + percent / 100, perSecond: 1000 }));
const percent = ({ without, withFeature }: Pair) => Math.round((withFeature / without - 1) * 100);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('what a feature adds', () => {
  it('is the median of the ratios of pairs, of each round and of all', () => {
    const added = addedBy([pairs([1, 2, 9]), pairs([30, 4, 5])], percent);
    expect(added).to.deep.equal({ median: 4.5, quartiles: [2, 9], interval: [1, 30], rounds: [2, 5] });
  });

  // Tables of the sign test: for 12 values from the 3rd smallest to the 3rd largest, for 20 the 6th, for 36 the 12th.
  for (const [count, rank] of [
    [6, 1],
    [12, 3],
    [20, 6],
    [36, 12],
  ] as const) {
    it(`lies with 95 % between number ${rank} from below and from above of ${count}`, () => {
      expect(addedBy([pairs(upTo(count))], percent).interval).to.deep.equal([rank, count + 1 - rank]);
    });
  }

  it('has no interval with five pairs', () => {
    const added = addedBy([pairs(upTo(5))], percent);
    expect(added.interval).to.equal(null);
    expect(describeAdded(added, 5)).to.equal('3.00 % (too few pairs for an interval; half of 5 pairs: 2.00 to 4.00)');
  });
});
