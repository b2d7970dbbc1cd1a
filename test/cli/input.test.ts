// What options may be.
import { expect } from 'chai';
import { time } from '../../cli/input.ts';

describe('times on the command line', () => {
  it('are ISO 8601 as they are, or how long ago', () => {
    expect(time(undefined)).to.equal(undefined);
    for (const text of ['2026-11-21', '2026-11-21T10:00:00Z', '1w', 'h', '1234567h']) expect(time(text)).to.equal(text);
    for (const [text, ms] of [
      ['30m', 1_800_000],
      ['1h', 3_600_000],
      ['7d', 604_800_000],
    ] as const) {
      expect(Date.now() - Date.parse(time(text) ?? ''), text).to.be.within(ms, ms + 60_000);
    }
  });
});
