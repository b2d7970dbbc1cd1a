// The site with all versions, as the release workflow publishes it, in dist/site: the newest release at its root, the
// last release of each earlier minor version in a folder such as v0.1/. Each is built from its tag, so that all menus
// name all versions. SITE_URL says where it will be.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROJECT = join(import.meta.dirname, '..');
const BUILT = join(PROJECT, 'dist', 'site');

const tags = git('tag', '--list', '--sort=-v:refname').split('\n');
const releases = tags.filter((tag) => /^\d+\.\d+\.\d+$/.test(tag));
const versions = releases.filter((tag, index) => index === releases.findIndex((each) => minor(each) === minor(tag)));
if (versions.length === 0)
  throw new Error('No release tag was found; create one, such as 0.1.0, or fetch the tags with git fetch --tags');

rmSync(BUILT, { recursive: true, force: true });
for (const version of versions) {
  const tree = mkdtempSync(join(tmpdir(), 'hookyard-site-'));
  git('worktree', 'add', '--detach', tree, version);
  const env = { ...process.env, SITE_VERSIONS: versions.join(' ') };
  execFileSync(process.execPath, ['site/build.ts'], { cwd: tree, env, stdio: 'inherit' });
  cpSync(join(tree, 'dist', 'site'), version === versions[0] ? BUILT : join(BUILT, `v${minor(version)}`), {
    recursive: true,
  });
  git('worktree', 'remove', '--force', tree);
}

function minor(version: string): string {
  return version.replace(/\.\d+$/, '');
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: PROJECT, encoding: 'utf8' });
}
