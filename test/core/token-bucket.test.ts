import { expect } from 'chai';
import fc from 'fast-check';
import { TokenBucket } from '../../core/fairness/rate-limits.ts';

describe('A token bucket', () => {
  const taken = (bucket: TokenBucket, tries: number, nowMs: number) =>
    Array.from({ length: tries }, () => bucket.take(nowMs)).filter(Boolean).length;

  it("lets one second's worth through at once, then the rate", () => {
    const bucket = new TokenBucket(10, 0);
    expect(taken(bucket, 50, 0)).to.equal(10);
    expect(bucket.waitMs(0)).to.be.closeTo(100, 0.001);
    expect(taken(bucket, 50, 250)).to.equal(2);
    expect(taken(bucket, 50, 60_000)).to.equal(10);
  });

  it('never lets more through than its rate and one second of it', () => {
    const steps = fc.array(fc.record({ waitMs: fc.nat(3000), tries: fc.nat(40) }), { maxLength: 40 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 30 }), steps, (rate, all) => {
        const bucket = new TokenBucket(rate, 0);
        let nowMs = 0;
        let passed = 0;
        for (const { waitMs, tries } of all) {
          nowMs += waitMs;
          passed += taken(bucket, tries, nowMs);
        }
        return passed <= rate + (rate * nowMs) / 1000 + 1e-6;
      }),
    );
  });

  it('lets everything through without a limit, and nothing with a limit of 0', () => {
    const open = new TokenBucket(Number.POSITIVE_INFINITY, 0);
    expect(taken(open, 10_000, 5)).to.equal(10_000);
    open.limit(2, 10);
    expect(taken(open, 10, 10), 'a limit that came later').to.equal(2);
    const closed = new TokenBucket(0, 0);
    expect(closed.take(1e9)).to.equal(false);
    expect(closed.waitMs(1e9)).to.equal(Number.POSITIVE_INFINITY);
  });

  it('keeps what is left when its limit changes, and takes back what was not used', () => {
    const bucket = new TokenBucket(10, 0);
    expect([bucket.waitMs(0), taken(bucket, 4, 0)]).to.deep.equal([0, 4]);
    bucket.limit(10, 0);
    bucket.limit(20, 0);
    expect(taken(bucket, 50, 0), 'raised').to.equal(6);
    expect(taken(bucket, 50, 500)).to.equal(10);
    bucket.giveBack();
    expect(taken(bucket, 50, 500)).to.equal(1);
    const lowered = new TokenBucket(10, 0);
    lowered.limit(3, 0);
    expect(taken(lowered, 50, 0)).to.equal(3);
  });

  it('gives what passed elsewhere, and recovers within a second from however much that was', () => {
    const bucket = new TokenBucket(10, 0);
    bucket.drain(4, 0);
    expect(taken(bucket, 50, 0)).to.equal(6);
    bucket.drain(1000, 0);
    expect(taken(bucket, 50, 1000)).to.equal(0);
    expect(taken(bucket, 50, 1200)).to.equal(2);
  });
});
