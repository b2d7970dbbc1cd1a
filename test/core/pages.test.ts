import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';

const project = join(import.meta.dirname, '..', '..');
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...readdirSync(join(project, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const textOf = (page: string) => readFileSync(join(project, page), 'utf8').replaceAll(/^ *```[\s\S]*?^ *```/gm, '');
const titlesOf = (page: string) => [...textOf(page).matchAll(/^#{1,6} (.*)$/gm)].map(([, title = '']) => title);

/** The name by which GitHub links to a section. */
const anchorOf = (title: string) =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

describe('The pages', () => {
  it('link to pages, sections and images that exist', () => {
    const broken: string[] = [];
    for (const page of pages) {
      for (const [, target = ''] of textOf(page).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        const [path = '', section] = target.split('#');
        const file = path === '' ? page : relative(project, resolve(project, dirname(page), path));
        const exists =
          existsSync(join(project, file)) && (section === undefined || titlesOf(file).map(anchorOf).includes(section));
        if (!exists) broken.push(`${page}: ${target}`);
      }
    }
    expect(broken).to.deep.equal([]);
  });

  // In comments, errors, help texts and the runbook addresses of alerts.
  it('are where the code says', () => {
    const found = globSync(['*.yml', '*/**/*.{ts,tsx,js,sql,yml,yaml,tpl,service,example}'], {
      cwd: project,
      exclude: ['**/node_modules', '**/dist', 'data'],
    })
      .map((file) => readFileSync(join(project, file), 'utf8'))
      .join('\n');
    const dead = new Set<string>();
    for (const [, page = '', section] of found.matchAll(/(?<![\w/])(docs\/[a-z0-9/-]+\.md)(?:#([a-z0-9-]+))?/g)) {
      const exists = existsSync(join(project, page));
      if (!exists || (section && !titlesOf(page).map(anchorOf).includes(section))) dead.add(`${page}#${section ?? ''}`);
    }
    expect([...dead]).to.deep.equal([]);
  });

  it('describe every setting', () => {
    const settings = readFileSync(join(project, 'core', 'config', 'config.ts'), 'utf8').matchAll(
      /^ {2}([A-Z][A-Z0-9_]+): \{/gm,
    );
    const table = textOf('docs/operate/configuration.md');
    const missing = [...settings].map(([, name = '']) => name).filter((name) => !table.includes(`\`${name}\``));
    expect(missing).to.deep.equal([]);
  });
});
