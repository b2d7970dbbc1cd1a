import { expect } from 'chai';
import { parseTime } from '../../api/query.ts';
import { parseIsoTime } from '../../core/iso-time.ts';

const at = (text: string): string | null => {
  const ms = parseIsoTime(text);
  return ms === null ? null : new Date(ms).toISOString();
};

describe('a time as a text', () => {
  const table: [text: string, expected: string | null][] = [
    ['2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['2026-11-21 10:00', '2026-11-21T10:00:00.000Z'],
    ['2026-11-21T10:00:05,25', '2026-11-21T10:00:05.250Z'],
    ['2026-11-21t10:00:05.123456789z', '2026-11-21T10:00:05.123Z'],
    ['2026-11-21T10:00:05+02:00', '2026-11-21T08:00:05.000Z'],
    ['2026-11-21T10:00-0530', '2026-11-21T15:30:00.000Z'],
    ['2026-11-21 10:00:05.25+00', '2026-11-21T10:00:05.250Z'],
    ['2026-11-21T10:00:05-03', '2026-11-21T13:00:05.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2026-02-29', null],
    ['2026-02-30T10:00:00Z', null],
    ['2026-04-31', null],
    ['2026-00-10', null],
    ['2026-13-01', null],
    ['2026-11-21T25:00:00Z', null],
    ['2026-11-21T10:60Z', null],
    ['2026-11-21T10:00:00+25:00', null],
    ['2026-11-21Z', null],
    ['2026-11-21T10', null],
    ['1763719200', null],
    ['', null],
  ];
  for (const [text, expected] of table) {
    it(`${text || 'nothing'}: ${expected ?? 'is none'}`, () => expect(at(text)).to.equal(expected));
  }

  // `+` in a query that is not encoded is a space.
  for (const [text, expected] of [
    ['2026-11-21T10:00:05 02:00', '2026-11-21T08:00:05.000Z'],
    ['2026-11-21T10:00:05.5 0200', '2026-11-21T08:00:05.500Z'],
    ['2026-11-21 10:00 02', '2026-11-21T08:00:00.000Z'],
    ['2026-11-21 10:00', '2026-11-21T10:00:00.000Z'],
    ['1969-12-31', undefined],
  ] as const) {
    it(`${text} in a query: ${expected ?? 'is none'}`, () => expect(parseTime(text)?.toISOString()).to.equal(expected));
  }
});
