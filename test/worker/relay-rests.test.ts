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

  it('of a relay that hears news are long when there is nothing left, and nudges cut them', () => {
    const hearing = new RelayRests({ hears: () => true });
    const polling = new RelayRests();
    for (let round = 0; round < 10; round += 1) polling.after('nothing', false, always);
    const rest = hearing.after('nothing', false, always);
    expect(rest.ms).to.be.greaterThan(polling.after('nothing', false, always).ms);
    expect(rest.nudgedMs).to.equal(polling.after('nothing', false, always).nudgedMs);
    expect(hearing.after('nothing', false, () => 40).ms, 'until the next slot of a rate limit').to.equal(40);
    expect(hearing.after('nothing', false, never).ms, 'while something waits').to.be.at.most(10);
    expect(hearing.after('work', false, always).ms, 'while there may be more of it').to.be.lessThan(100);
  });

  it('of a relay that has found work without news are short for a minute: news get lost', () => {
    let now = 1000;
    const rests = new RelayRests({ hears: () => true, now: () => now });
    const long = rests.after('nothing', false, always).ms;
    now += 10;
    rests.nudged();
    now += 5;
    rests.after('work', false, always);
    expect(rests.after('nothing', false, always).ms, 'work that was told of').to.equal(long);
    now += 10;
    rests.woken();
    now += 5;
    rests.after('work', false, always);
    expect(rests.after('nothing', false, always).ms, 'work for which a place became free').to.equal(long);
    now += 500;
    rests.after('work', false, always);
    now += 5;
    rests.nudged();
    expect(rests.after('nothing', false, always).ms, 'work that was told of right afterwards').to.equal(long);
    rests.after('nothing', false, () => 40);
    now += 40;
    rests.after('work', false, always);
    expect(rests.after('nothing', false, always).ms, 'work whose time had come').to.equal(long);
    now += 500;
    rests.after('work', false, always);
    for (let round = 0; round < 10; round += 1) rests.after('nothing', false, always);
    expect(rests.after('nothing', false, always).ms, 'work that nobody told of').to.be.lessThan(long);
    now += 59_000;
    expect(rests.after('nothing', false, always).ms).to.be.lessThan(long);
    now += 2000;
    expect(rests.after('nothing', false, always).ms).to.equal(long);
  });
});
