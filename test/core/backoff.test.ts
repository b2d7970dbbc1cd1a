import { expect } from 'chai';
import fc from 'fast-check';
import {
  DEFAULT_RETRY_POLICY,
  MAX_RETRY_AFTER,
  parseRetryAfter,
  retryDelay,
  waitBeforeRetry,
} from '../../core/delivery/backoff.ts';

const policy = fc.record({
  maxRetries: fc.integer({ min: 0, max: 50 }),
  initialDelay: fc.integer({ min: 0, max: 86_400_000 }),
  maxDelay: fc.integer({ min: 0, max: 86_400_000 }),
  backoffMultiplier: fc.double({ min: 1, max: 10, noNaN: true }),
});
const random01 = fc.double({ min: 0, max: 1, noNaN: true });

describe('retryDelay', () => {
  it('doubles from one second to one minute by default', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => retryDelay(DEFAULT_RETRY_POLICY, n, 0.5));
    expect(delays).to.deep.equal([1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000]);
  });

  it('varies by ten percent to either side', () => {
    expect(retryDelay(DEFAULT_RETRY_POLICY, 1, 0)).to.equal(900);
    expect(retryDelay(DEFAULT_RETRY_POLICY, 1, 1)).to.equal(1100);
  });

  it('stays zero for a policy without delay, however many retries', () => {
    const policy = { ...DEFAULT_RETRY_POLICY, initialDelay: 0, backoffMultiplier: 10 };
    for (const n of [1, 2, 5000]) expect(retryDelay(policy, n, 1)).to.equal(0);
  });

  it('is a whole number within ten percent of the plan for every policy, however many retries', () => {
    fc.assert(
      fc.property(policy, fc.integer({ min: 1, max: 5000 }), random01, (p, n, r) => {
        const delay = retryDelay(p, n, r);
        const planned =
          p.initialDelay === 0 ? 0 : Math.min(p.maxDelay, p.initialDelay * p.backoffMultiplier ** (n - 1));
        expect(Number.isSafeInteger(delay)).to.equal(true);
        expect(delay).to.be.within(Math.floor(planned * 0.9), Math.ceil(planned * 1.1));
      }),
    );
  });
});

describe('parseRetryAfter', () => {
  const now = Date.UTC(1994, 10, 6, 8, 49, 7);
  const cases: [string | null | undefined, number | null][] = [
    ['120', 120_000],
    [' 0 ', 0],
    ['-5', 0],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 30_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 30_000],
    ['Sun Nov  6 08:49:37 1994', 30_000],
    ['Sun, 06 Nov 1994 08:49:00 GMT', 0],
    ['', null],
    [null, null],
    [undefined, null],
    ['soon', null],
    ['1.5', 1500],
    ['.25', 250],
    ['+7', 7000],
    ['"30"', 30_000],
    ['30s', 30_000],
    ['30, 60', 60_000],
    ['60,Sun, 06 Nov 1994 08:49:37 GMT', 60_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT, 20', 30_000],
    ['sun, 06 nov 1994 08:49:37 gmt', 30_000],
    ['06 Nov 1994 08:49:37 GMT', 30_000],
    ['Sun, 6 Nov 1994 08:49:37 UTC', 30_000],
    ['Sun, 06 Nov 1994 08:49:37', 30_000],
    ['Sun, 06 Nov 1994 10:19:37 +0130', 30_000],
    ['Sun, 06 Nov 1994 07:19:37 -0130', 30_000],
    ['1994-11-06T08:49:37Z', 30_000],
    ['1994-11-06T09:49:37.500+01:00', 30_500],
    ['Friday, 06-Nov-43 08:49:37 GMT', Date.UTC(2043, 10, 6, 8, 49, 37) - now],
    ['Monday, 06-Nov-50 08:49:37 GMT', 0],
    ['Sun, 06 Nov 1994 25:49:37 GMT', null],
    ['1.2.3', null],
    ['Infinity', null],
    ['1e3', null],
    ['5 minutes', null],
    ['tomorrow 5', null],
    ['Sun, 99 Foo', null],
    ['2030', 2_030_000],
  ];
  for (const [value, wait] of cases) {
    it(`reads ${JSON.stringify(value)} as ${wait}`, () => {
      expect(parseRetryAfter(value, now)).to.equal(wait);
    });
  }

  it('survives a number without end', () => {
    expect(parseRetryAfter('9'.repeat(400), now)).to.equal(Number.MAX_SAFE_INTEGER);
  });

  it('never throws and never answers a negative wait', () => {
    fc.assert(fc.property(fc.string(), (text) => (parseRetryAfter(text, now) ?? 0) >= 0));
  });
});

it('a planned wait of more than an hour stays as it is, whatever Retry-After asks for', () => {
  expect(waitBeforeRetry({ planned: 2 * MAX_RETRY_AFTER, retryAfter: 86_400_000 })).to.equal(2 * MAX_RETRY_AFTER);
});
