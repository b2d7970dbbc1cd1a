import { expect } from 'chai';
import { hear, type Heard, isSilent } from '../../worker/temporal/release.ts';

const MINUTE_MS = 60_000;

describe('the current release', () => {
  /** @param looks what Temporal says, a look each minute */
  function silentAfter(...looks: { current: string | null; askedAt: number }[]): boolean[] {
    let heard: Heard | null = null;
    return looks.map((routing, minute) => {
      heard = hear(heard, routing, minute * MINUTE_MS);
      return isSilent(heard, minute * MINUTE_MS, 2 * MINUTE_MS);
    });
  }
  const asked = (askedAt: number, current: string | null = '2') => ({ current, askedAt });

  it('is silent when its workers have not asked for two minutes', () => {
    expect(silentAfter(asked(50), asked(50), asked(50), asked(50))).to.deep.equal([false, false, true, true]);
    expect(silentAfter(asked(0), asked(0), asked(0))).to.deep.equal([false, false, true]);
  });

  it('is not silent while one asks each minute, and again not when one is back', () => {
    expect(silentAfter(asked(1), asked(2), asked(3), asked(4))).to.deep.equal([false, false, false, false]);
    expect(silentAfter(asked(1), asked(1), asked(1), asked(2))).to.deep.equal([false, false, true, false]);
  });

  it('stays silent when Temporal forgets who asked', () => {
    expect(silentAfter(asked(5), asked(5), asked(5), asked(0))).to.deep.equal([false, false, true, true]);
  });

  it('gets two minutes of its own when it has just become that', () => {
    expect(silentAfter(asked(5), asked(5), asked(0, '3'), asked(0, '3'), asked(0, '3'))).to.deep.equal([
      ...[false, false, false, false, true],
    ]);
    expect(silentAfter(asked(5), asked(5), asked(0, null))).to.deep.equal([false, false, false]);
  });
});
