// What is generated of the client is of today's description and of today's source, and needs nothing.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { DIST, distFiles, filesIn, TYPES, typesText } from '../../client/generate/write.ts';

describe('The generated parts of the client', () => {
  it('are up to date', function () {
    this.timeout(180_000);
    const stale = 'is out of date: run npm run openapi';
    expect(readFileSync(TYPES, 'utf8') === typesText(), `client/api.ts ${stale}`).to.equal(true);
    const expected = distFiles();
    const checkedIn = filesIn(DIST);
    expect(Object.keys(checkedIn)).to.deep.equal(Object.keys(expected));
    for (const [name, text] of Object.entries(expected))
      expect(checkedIn[name] === text, `client/dist/${name} ${stale}`).to.equal(true);
  });

  it('import each other only', () => {
    const imported = Object.entries(filesIn(DIST))
      .filter(([name]) => name.endsWith('.js'))
      .flatMap(([, text]) => [...text.matchAll(/\bfrom '([^']+)'|\bimport\(/g)].map(([, from]) => from));
    expect(new Set(imported)).to.deep.equal(new Set(['./api.js', './errors.js', './http.js', './ignored.js']));
  });
});
