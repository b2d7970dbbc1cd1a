// The pages of docs/ and the README.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const project = join(import.meta.dirname, '..', '..');
const pages = [
  'README.md',
  ...readdirSync(join(project, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

describe('The pages', () => {
  // A link to a section leads to the first one of its name.
  it('have no section twice', () => {
    for (const page of pages) {
      const text = readFileSync(join(project, page), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
      const titles = [...text.matchAll(/^#{1,6} .*$/gm)].map(([title]) => title);
      const twice = titles.filter((title, index) => titles.indexOf(title) !== index);
      expect(twice, page).to.deep.equal([]);
    }
  });
});
