import { expect } from 'chai';
import { type Answer, verdictOf, failoverCandidates } from '../../core/delivery/verdict.ts';
import { openError, ownWords } from '../../core/text/error-summary.ts';

const REFUSED = openError(ownWords`Refused: 10.0.0.1 is a private address`);
const TIMED_OUT = { summary: ownWords`TLS failed`, detail: 'TLS failed: the words of a certificate' };
const NOW = Date.UTC(2026, 10, 21, 12);
const response = (statusCode: number, headers: Record<string, string> = {}): Answer => ({
  kind: 'response',
  statusCode,
  headers,
  contains: false,
});

describe('the verdict on an attempt', () => {
  it('delivers on any 2xx when the route expects nothing else', () => {
    for (const status of [200, 201, 204, 299]) {
      expect(verdictOf(response(status), null, 1000, NOW)).to.deep.equal({ status: 'delivered', error: null });
    }
  });

  it('retries every other status, redirects included', () => {
    for (const status of [199, 301, 302, 307, 400, 401, 404, 408, 429, 500, 503]) {
      const verdict = verdictOf(response(status), null, 1000, NOW);
      expect(verdict, String(status)).to.include({ status: 'retrying', waitMs: 1000 });
    }
  });

  it('fails at once on 410 Gone, on 508 Loop Detected, and on errors that would come again', () => {
    for (const status of [410, 508]) expect(verdictOf(response(status), null, 1000, NOW).status).to.equal('failed');
    const refused: Answer = { kind: 'error', ...REFUSED, retryable: false };
    const failed = { status: 'failed', error: REFUSED, exhausted: false };
    expect(verdictOf(refused, null, 1000, NOW)).to.deep.equal(failed);
  });

  it('delivers a 410 that the route expects', () => {
    expect(verdictOf(response(410), { statusCodes: [410] }, 1000, NOW).status).to.equal('delivered');
  });

  it('fails the last attempt', () => {
    const timeout: Answer = { kind: 'error', ...TIMED_OUT, retryable: true };
    expect(verdictOf(timeout, null, null, NOW)).to.deep.equal({ status: 'failed', error: TIMED_OUT, exhausted: true });
    expect(verdictOf(response(500), null, null, NOW).status).to.equal('failed');
  });

  it('heeds Retry-After of 429 and 503 only, longer but never shorter than planned, at most an hour', () => {
    const waits = (status: number, retryAfter: string) =>
      verdictOf(response(status, { 'retry-after': retryAfter }), null, 2000, NOW);
    expect(waits(429, '5')).to.include({ waitMs: 5000 });
    expect(waits(503, 'Sat, 21 Nov 2026 12:00:07 GMT')).to.include({ waitMs: 7000 });
    expect(waits(429, '1')).to.include({ waitMs: 2000 });
    expect(waits(429, '7200')).to.include({ waitMs: 3_600_000 });
    expect(waits(500, '5')).to.include({ waitMs: 2000 });
    expect(waits(429, 'soon')).to.include({ waitMs: 2000 });
  });

  it('reads the date of Retry-After by the clock of the destination, when that tells what it says', () => {
    const waits = (date: string) =>
      verdictOf(response(503, { 'retry-after': 'Sat, 21 Nov 2026 13:00:07 GMT', date }), null, 2000, NOW);
    expect(waits('Sat, 21 Nov 2026 13:00:00 GMT')).to.include({ waitMs: 7000 });
    expect(waits('Sat, 21 Nov 2026 13:01:00 GMT')).to.include({ waitMs: 2000 });
    expect(waits('now')).to.include({ waitMs: 3_600_000 });
  });
});

const rule = { failoverDestinationIds: ['a', 'b', 'c'], failoverAfterAttempts: 3 };
/** @param tried the destinations of the chain of deliveries, the first one included */
const candidates = (tried: string, attempt: number, exhausted: boolean) =>
  failoverCandidates(rule, { isPrimary: tried.length === 1, tried: [...tried], attempt, exhausted });

describe('failover', () => {
  const rows: [which: string, tried: string, attempt: number, exhausted: boolean, expected: string[]][] = [
    ['leaves a primary delivery alone before it is due', 'p', 1, false, []],
    ['leaves it alone at the attempt before', 'p', 2, false, []],
    ['hands it over after the set number of failed attempts', 'p', 3, false, ['a', 'b', 'c']],
    ['hands it over after more of them', 'p', 4, false, ['a', 'b', 'c']],
    ['hands it over when it would fail before that', 'p', 1, true, ['a', 'b', 'c']],
    ['gives a failover delivery its whole retry policy', 'pa', 5, false, []],
    ['goes to the next destination after that', 'pa', 6, true, ['b', 'c']],
    ['goes to the last one', 'pab', 1, true, ['c']],
    ['ends with the last one', 'pabc', 6, true, []],
    ['tries what is left when the order was changed', 'pb', 6, true, ['a', 'c']],
    ['tries it when the order was changed twice', 'pcb', 6, true, ['a']],
    ['does not take one that the rule no longer names for the first', 'px', 4, false, []],
    ['goes on from one that the rule no longer names', 'px', 6, true, ['a', 'b', 'c']],
  ];
  for (const [which, tried, attempt, exhausted, expected] of rows)
    it(which, () => expect(candidates(tried, attempt, exhausted)).to.deep.equal(expected));

  it('never happens on a route without failover destinations', () => {
    const none = { failoverDestinationIds: [], failoverAfterAttempts: 1 };
    expect(failoverCandidates(none, { isPrimary: true, tried: ['p'], attempt: 9, exhausted: true })).to.deep.equal([]);
  });
});
