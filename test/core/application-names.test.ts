// PostgreSQL can tell whose each connection is: every pool and client of the sources names its role.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SOURCE_FOLDERS } from '../support/programs/source-folders.ts';

const PROJECT = join(import.meta.dirname, '..', '..');
const OPENED = /\b(?:createPool\(|new (?:pg\.Pool|pg\.Client|PgClient)\(|MikroORM\.init\(|new MikroORM\()/g;
const NAMED = /\b(?:name: 'hookyard-[a-z]+'|application_name\b)/;
// How far a call may be from its name, in characters: the options may be a constant before or an object behind it.
const NEAR = 700;

describe('connections to PostgreSQL', () => {
  it('are named by their role wherever they are opened', () => {
    const unnamed: string[] = [];
    let opened = 0;
    for (const file of globSync(
      SOURCE_FOLDERS.map((folder) => `${folder}/**/*.ts`),
      { cwd: PROJECT },
    )) {
      const text = readFileSync(join(PROJECT, file), 'utf8');
      for (const { 0: call, index } of text.matchAll(OPENED)) {
        if (text.slice(0, index).endsWith('function ')) continue;
        opened += 1;
        if (!NAMED.test(text.slice(Math.max(0, index - NEAR), index + NEAR))) unnamed.push(`${file}: ${call}`);
      }
    }
    expect(opened).to.be.above(10);
    expect(unnamed).to.deep.equal([]);
  });
});
