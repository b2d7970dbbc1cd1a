import { expect } from 'chai';
import { openError, ownWords } from '../../core/text/error-summary.ts';
import { type Answer, verdictOf } from '../../core/delivery/verdict.ts';

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
