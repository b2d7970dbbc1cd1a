import { expect } from 'chai';
import { failoverCandidates } from '../../core/failover.ts';

const rule = { failoverDestinationIds: ['a', 'b', 'c'], failoverAfterAttempts: 3 };
const candidates = (destinationId: string, attempt: number, exhausted: boolean) =>
  failoverCandidates(rule, { destinationId, attempt, exhausted });

describe('failover', () => {
  it('leaves a primary delivery alone before it is due', () => {
    expect(candidates('primary', 1, false)).to.deep.equal([]);
    expect(candidates('primary', 2, false)).to.deep.equal([]);
  });

  it('hands a primary delivery over after the set number of failed attempts', () => {
    expect(candidates('primary', 3, false)).to.deep.equal(['a', 'b', 'c']);
    expect(candidates('primary', 4, false)).to.deep.equal(['a', 'b', 'c']);
  });

  it('hands a primary delivery over when it would fail before that', () => {
    expect(candidates('primary', 1, true)).to.deep.equal(['a', 'b', 'c']);
  });

  it('gives a failover delivery its whole retry policy, then the next destination', () => {
    expect(candidates('a', 5, false)).to.deep.equal([]);
    expect(candidates('a', 6, true)).to.deep.equal(['b', 'c']);
    expect(candidates('b', 1, true)).to.deep.equal(['c']);
  });

  it('ends with the last destination', () => {
    expect(candidates('c', 6, true)).to.deep.equal([]);
  });

  it('never happens on a route without failover destinations', () => {
    const none = { failoverDestinationIds: [], failoverAfterAttempts: 1 };
    expect(failoverCandidates(none, { destinationId: 'primary', attempt: 9, exhausted: true })).to.deep.equal([]);
  });
});
