import { expect } from 'chai';
import { failoverCandidates } from '../../core/delivery/verdict.ts';

const rule = { failoverDestinationIds: ['a', 'b', 'c'], failoverAfterAttempts: 3 };
/** @param tried the destinations of the chain of deliveries, the first one included */
const candidates = (tried: string, attempt: number, exhausted: boolean) =>
  failoverCandidates(rule, { isPrimary: tried.length === 1, tried: [...tried], attempt, exhausted });

describe('failover', () => {
  it('leaves a primary delivery alone before it is due', () => {
    expect(candidates('p', 1, false)).to.deep.equal([]);
    expect(candidates('p', 2, false)).to.deep.equal([]);
  });

  it('hands a primary delivery over after the set number of failed attempts', () => {
    expect(candidates('p', 3, false)).to.deep.equal(['a', 'b', 'c']);
    expect(candidates('p', 4, false)).to.deep.equal(['a', 'b', 'c']);
  });

  it('hands a primary delivery over when it would fail before that', () => {
    expect(candidates('p', 1, true)).to.deep.equal(['a', 'b', 'c']);
  });

  it('gives a failover delivery its whole retry policy, then the next destination', () => {
    expect(candidates('pa', 5, false)).to.deep.equal([]);
    expect(candidates('pa', 6, true)).to.deep.equal(['b', 'c']);
    expect(candidates('pab', 1, true)).to.deep.equal(['c']);
  });

  it('ends with the last destination', () => {
    expect(candidates('pabc', 6, true)).to.deep.equal([]);
  });

  it('tries what is left when the order was changed, and does not take one for the first that the rule no longer names', () => {
    expect(candidates('pb', 6, true)).to.deep.equal(['a', 'c']);
    expect(candidates('pcb', 6, true)).to.deep.equal(['a']);
    expect(candidates('px', 4, false)).to.deep.equal([]);
    expect(candidates('px', 6, true)).to.deep.equal(['a', 'b', 'c']);
  });

  it('never happens on a route without failover destinations', () => {
    const none = { failoverDestinationIds: [], failoverAfterAttempts: 1 };
    expect(failoverCandidates(none, { isPrimary: true, tried: ['p'], attempt: 9, exhausted: true })).to.deep.equal([]);
  });
});
