// All SQL is in db/, behind functions that are named for what they do.
import { expect } from 'chai';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
// Those that may import db/. Not local/: it sets up servers, and databases that are not Hookyard's own.
const FOLDERS = ['activities', 'api', 'temporal-config', 'worker'];
const STATEMENTS = [
  /\b(?:insert into|update \w+(?: \w+)? set|delete from|select\b[^'`;]*?\sfrom)\b/g,
  /\.(?:query|execute)(?:<|\((?!\)))/g,
  /from 'pg'/g,
];

describe('SQL', () => {
  it('is in db/ only', () => {
    const found: string[] = [];
    for (const file of globSync(
      FOLDERS.map((folder) => `${folder}/**/*.ts`),
      { cwd: ROOT },
    )) {
      const text = readFileSync(join(ROOT, file), 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, '');
      for (const pattern of STATEMENTS) {
        for (const [match] of text.matchAll(pattern)) found.push(`${file}: ${match}`);
      }
    }
    expect(found).to.deep.equal([]);
  });
});
