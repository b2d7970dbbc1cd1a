import { expect } from 'chai';
import { momentOf, time } from '../../cli/input.ts';

describe('times on the command line', () => {
  it('are ISO 8601, or how long ago, and nothing else', () => {
    expect(time('2026-11-21', '--from')).to.equal('2026-11-21T00:00:00.000Z');
    for (const text of ['1w', 'h', '1234567h', 'soon', '']) {
      expect(momentOf(text), text).to.equal(null);
      expect(() => time(text, '--from'), text).to.throw(
        '--from must be an ISO 8601 time, or how long ago (for example 30m',
      );
    }
    for (const [text, ms] of [
      ['30m', 1_800_000],
      ['1h', 3_600_000],
      ['7d', 604_800_000],
    ] as const) {
      const moment = Date.parse(time(text, '--from'));
      expect(Date.now() - moment, text).to.be.within(ms, ms + 60_000);
    }
  });
});
