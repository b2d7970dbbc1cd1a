// The page of log messages has every message of the sources, with its level, and no other.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { comparable, logMessages } from '../support/log-messages.ts';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'log-messages.md');
const ROW = /^\| (info|warn|error|fatal) \| `([^`]+)` \| (.+) \| (.+) \|$/gm;

const rows = [...readFileSync(PAGE, 'utf8').matchAll(ROW)].map(
  ([, level, message = '', meaning = '', advice = '']) => ({
    line: `${level} ${comparable(message)}`,
    meaning,
    advice,
  }),
);
const listed = rows.map(({ line }) => line);
const logged = new Set(logMessages().map(({ level, message }) => `${level} ${comparable(message)}`));

describe('the page of log messages', () => {
  it('has every message that the sources log', () => {
    expect(logged.size, 'messages are found').to.be.above(100);
    expect([...logged].filter((line) => !listed.includes(line))).to.deep.equal([]);
  });

  it('has no other, and none twice', () => {
    expect(listed.filter((line) => !logged.has(line))).to.deep.equal([]);
    expect(listed.filter((line, index) => listed.indexOf(line) !== index)).to.deep.equal([]);
  });

  it('says what warnings and errors ask for', () => {
    for (const { line, meaning, advice } of rows) {
      expect(meaning.trim(), line).to.not.equal('');
      expect(advice.trim(), line).to.not.equal('');
    }
  });
});

describe('the reader of log messages', () => {
  it('makes the places of a template equal to those of the page', () => {
    expect(comparable('waiting for <PostgreSQL>')).to.equal(comparable('waiting for <>'));
    expect(comparable('waiting for <PostgreSQL>')).to.not.equal(comparable('waiting for Temporal'));
  });
});
