// Which folder may import which others: the table in CONTRIBUTING.md is the rule.
import { expect } from 'chai';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

const ROOT = join(import.meta.dirname, '..', '..');
const ROW = /^\| `([a-z-]+)\/` \|.*\| ([^|]*) \|$/gm;
const IMPORT = /^(?:import|export) (type )?[^;]*?from '(\.[^']*)'|(?:import|new URL)\('(\.[^']*\.ts)'/gm;
const PACKAGE = /^(?:import|export) (?!type )[^;]*?from '([^.'][^']*)'|import\('([^.'][^']*)'\)/gm;
const TYPES = 'types of ';

const rules = new Map(
  [...readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').matchAll(ROW)].map(([, folder = '', may = '']) => [
    folder,
    may.replaceAll('`', '').split(', '),
  ]),
);
const { include: ofNode } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as { include: string[] };
// Checked by a configuration of its own, for browsers.
const include = [...ofNode, 'console'];

/** Files that are part of a program that begins with these: what they import with values, and what that imports. */
function reachedFrom(files: string[]): { file: string; packages: string[] }[] {
  const reached = new Map<string, string[]>();
  const open = [...files];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue;
    const text = readFileSync(join(ROOT, file), 'utf8');
    reached.set(
      file,
      [...text.matchAll(PACKAGE)].map(([, first, second]) => first ?? second ?? ''),
    );
    for (const [, type, from, url] of text.matchAll(IMPORT)) {
      const path = join(dirname(file), from ?? url ?? '');
      if (!type && path.endsWith('.ts')) open.push(path);
    }
  }
  return Array.from(reached, ([file, packages]) => ({ file, packages }));
}

// Neither reads clocks nor reaches out. Interceptors of OpenTelemetry would change histories: traces are told by
// activities.
const MAY_RUN_IN_WORKFLOWS = ['@temporalio/workflow', '@temporalio/common'];

function isAllowed(folder: string, target: string, isType: boolean): boolean {
  const may = rules.get(folder) ?? [];
  return may.includes(target) || may.includes('anything') || (isType && may.includes(TYPES + target));
}

describe('the folders', () => {
  it('import only what the table of CONTRIBUTING allows', () => {
    const found: string[] = [];
    for (const file of globSync(
      include.map((folder) => `${folder}/**/*.{ts,tsx}`),
      { cwd: ROOT, exclude: ['**/node_modules'] },
    )) {
      const [folder = ''] = file.split('/');
      for (const [, type, from, url] of readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)) {
        const path = join(dirname(file), from ?? url ?? '');
        const [target = ''] = path.split('/');
        if (target !== folder && /\.tsx?$/.test(path) && !isAllowed(folder, target, Boolean(type))) {
          found.push(`${file} imports ${path}`);
        }
      }
    }
    expect(found).to.deep.equal([]);
  });

  it('keep OpenTelemetry, and what is not deterministic, out of workflows', () => {
    const reached = reachedFrom(globSync('workflows/**/*.ts', { cwd: ROOT }));
    expect(reached.map(({ file }) => file)).to.include.members(['workflows/delivery.ts', 'core/delivery/backoff.ts']);
    for (const { file, packages } of reached) {
      const others = packages.filter((name) => !MAY_RUN_IN_WORKFLOWS.includes(name));
      expect(others, file).to.deep.equal([]);
    }
  });
});
