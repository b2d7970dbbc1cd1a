import { expect } from 'chai';
import { WindowCounts } from '../../core/fairness/rate-limits.ts';
import { useClock } from '../support/clock.ts';

// Longer than a test; one that begins within the test would begin a new window.
const LONG_MS = 1e15;

describe('counts of a window', () => {
  const { pass } = useClock();

  it('count each name apart', () => {
    const counts = new WindowCounts({ windowMs: LONG_MS });
    expect([counts.add('a'), counts.add('a'), counts.add('b')]).to.deep.equal([1, 2, 1]);
    expect(['a', 'b', 'c'].map((name) => counts.of(name))).to.deep.equal([2, 1, 0]);
    expect(counts.endsAt).to.equal(LONG_MS);
  });

  it('count names beyond the most together, and keep counting those that they know', () => {
    const counts = new WindowCounts({ windowMs: LONG_MS, mostNames: 2 });
    expect(['a', 'b', 'c', 'd', 'a'].map((name) => counts.add(name))).to.deep.equal([1, 1, 1, 2, 2]);
    expect(['a', 'b', 'c', 'e'].map((name) => counts.of(name))).to.deep.equal([2, 1, 2, 2]);
  });

  it('begin again with each window, and say what the one before had', async () => {
    const passed: Record<string, number>[] = [];
    const counts = new WindowCounts({ windowMs: 50, onPassed: (had) => passed.push(Object.fromEntries(had)) });
    counts.add('a');
    await pass(50);
    expect(counts.of('a')).to.equal(0);
    await pass(50);
    expect(counts.add('b')).to.equal(1);
    expect(passed, 'not of the window without any').to.deep.equal([{ a: 1 }]);
  });
});
