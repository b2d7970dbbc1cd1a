// What a tenant can cause without end is let through once a minute, and never beyond a bound, whatever others do.
import { expect } from 'chai';
import { FirstOfMinute } from '../../api/auth/audit-trail.ts';
import { useClock } from '../support/clock.ts';

describe('The first of a minute', () => {
  const { pass } = useClock();

  it('is let through once for each owner, and again in the next minute', async () => {
    const firsts = new FirstOfMinute();
    const take = () => [firsts.take('a', 'x'), firsts.take('a', 'x'), firsts.take('a', 'y'), firsts.take('b', 'x')];
    expect(take()).to.deep.equal([true, false, true, true]);
    expect(take()).to.deep.equal([false, false, false, false]);
    await pass(60_000);
    expect(take()).to.deep.equal([true, false, true, true]);
  });

  it('is let through again when it came to nothing', () => {
    const firsts = new FirstOfMinute();
    firsts.take('a', 'x');
    firsts.giveBack('a', 'x');
    expect(firsts.take('a', 'x')).to.equal(true);
  });

  it('is bounded for each owner', () => {
    const firsts = new FirstOfMinute();
    const taken = Array.from({ length: 1000 }, (_, n) => firsts.take('a', `${n}`)).filter(Boolean);
    expect(taken).to.have.lengthOf(200);
    expect(firsts.take('b', 'x')).to.equal(true);
  });
});
