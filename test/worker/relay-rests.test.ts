// How long a relay rests between its rounds, and how soon a nudge ends that.
import { expect } from 'chai';
import { RelayRests } from '../../worker/relay-rests.ts';

const never = () => 0;
const always = () => Number.POSITIVE_INFINITY;

describe('the rests of a relay', () => {
  it('grow while there is nothing to start, and nudges cut them', () => {
    const rests = new RelayRests();
    const first = rests.after('nothing', false, never);
    const later = Array.from({ length: 10 }, () => rests.after('nothing', false, never)).at(-1);
    expect(later?.ms).to.be.greaterThan(first.ms);
    expect(later?.nudgedMs).to.equal(first.nudgedMs);
    expect(rests.after('work', false, never).ms).to.be.lessThan(first.ms + 1);
  });

  it('of a busy relay without places are cut by nudges too, to claim for several', () => {
    const [quiet, busy] = [new RelayRests(), new RelayRests()];
    for (let round = 0; round < 10; round += 1) {
      quiet.after('nothing', false, never);
      busy.after('nothing', true, never);
    }
    const [restOfQuiet, restOfBusy] = [quiet.after('nothing', false, never), busy.after('nothing', true, never)];
    expect(restOfBusy.ms).to.equal(restOfQuiet.ms);
    expect(restOfBusy.nudgedMs).to.be.within((restOfQuiet.nudgedMs ?? 0) + 1, restOfBusy.ms - 1);
  });

  it('are short before everything is examined, and no shorter afterwards for that', () => {
    const rests = new RelayRests();
    for (let round = 0; round < 10; round += 1) rests.after('nothing', false, never);
    const longest = rests.after('nothing', false, never);
    const between = rests.after('nothing yet', false, never);
    expect(between.ms).to.equal(longest.nudgedMs);
    expect(rests.after('nothing', false, never)).to.deep.equal(longest);
  });

  it('wait for news where they come and everything is started', () => {
    const rests = new RelayRests();
    const polled = rests.after('work', false, always).ms;
    rests.nudged();
    expect(rests.after('work', false, always).ms).to.be.greaterThan(polled);
    expect(rests.after('work', false, never).ms, 'not while something waits').to.equal(polled);
  });

  it('wait for news no longer than until the next slot of a rate limit', () => {
    const rests = new RelayRests();
    const polled = rests.after('work', false, never).ms;
    rests.nudged();
    const longest = rests.after('work', false, always).ms;
    expect(rests.after('work', false, () => longest - 1).ms).to.equal(longest - 1);
    expect(rests.after('work', false, () => polled - 1).ms).to.equal(polled);
  });
});
