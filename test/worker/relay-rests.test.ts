// How long a relay rests between its rounds, and how soon a nudge ends that.
import { expect } from 'chai';
import { RelayRests } from '../../worker/relay-rests.ts';

const never = () => false;
const always = () => true;

describe('the rests of a relay', () => {
  it('grow while there is nothing to start, and nudges cut them', () => {
    const rests = new RelayRests();
    const first = rests.after(false, false, never);
    const later = Array.from({ length: 10 }, () => rests.after(false, false, never)).at(-1);
    expect(later?.ms).to.be.greaterThan(first.ms);
    expect(later?.nudgedMs).to.equal(first.nudgedMs);
    expect(rests.after(true, false, never).ms).to.be.lessThan(first.ms + 1);
  });

  it('of a busy relay without places are cut by nudges too, to claim for several', () => {
    const [quiet, busy] = [new RelayRests(), new RelayRests()];
    for (let round = 0; round < 10; round += 1) {
      quiet.after(false, false, never);
      busy.after(false, true, never);
    }
    const [restOfQuiet, restOfBusy] = [quiet.after(false, false, never), busy.after(false, true, never)];
    expect(restOfBusy.ms).to.equal(restOfQuiet.ms);
    expect(restOfBusy.nudgedMs).to.be.within((restOfQuiet.nudgedMs ?? 0) + 1, restOfBusy.ms - 1);
  });

  it('wait for news where they come and everything is started', () => {
    const rests = new RelayRests();
    const polled = rests.after(true, false, always).ms;
    rests.nudged();
    expect(rests.after(true, false, always).ms).to.be.greaterThan(polled);
    expect(rests.after(true, false, never).ms, 'not while something waits').to.equal(polled);
  });
});
