// Earlier releases as they were: the files of a commit and the packages of its lock file, in the cache folder, so that their processes
// can be started beside those of this one (`startService(role, env, folder)`).
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { oneLine } from '../../local/errors.ts';
import { cacheFolder, fillOnce } from './cache-folder.ts';
import { npmCi } from './npm-packages.ts';

const project = join(import.meta.dirname, '..', '..');
const log = (line: string) => console.log(`[test set-up] ${line}`);
const run = promisify(execFile);

export interface EarlierRelease {
  /** Version and the first digits of the commit. */
  name: string;
  commit: string;
  /** Whether it has worker versioning, the command `migrate`, and roles in PostgreSQL that cannot change the schema. */
  hasRoles: boolean;
  /** Whether its API says that it ends before it does, so that a balancer takes it out by itself. */
  drains: boolean;
}

/** Those that an upgrade to this one is tried from; docs/releasing.md says when they change. */
export const BEFORE_VERSIONING: EarlierRelease = {
  name: '0.1.0-ebb8fe9',
  commit: 'ebb8fe97bacbe8a551d96432be1fb36b5d0ed64e',
  hasRoles: false,
  drains: false,
};
export const BEFORE: EarlierRelease = {
  name: '0.1.0-5b5b447',
  commit: '5b5b44703e67884818110bf3389da773426698b2',
  hasRoles: true,
  drains: true,
};
/** What the torture begins with: before it, one of several processes that start behind a pooler could take that for one that knows names. */
export const BEFORE_WITH_POOLER: EarlierRelease = {
  ...BEFORE,
  name: '0.1.0-2002c59',
  commit: '2002c590dcd925b675a59b586a013dbaab8503ad',
};

/** @returns why the files of a release cannot be had here, and what to do; null: they can */
export async function whyNoRelease({ name, commit }: EarlierRelease): Promise<string | null> {
  const what = `the release ${name} is the commit ${commit.slice(0, 7)} of the project's history, which is not here`;
  try {
    if (await isInHistory(commit)) return null;
    const isShallow = (await git('rev-parse', '--is-shallow-repository')).trim() === 'true';
    const cure = isShallow
      ? 'this clone is shallow; run "git fetch --unshallow"'
      : 'clone the project with its history';
    return `${what}: ${cure}`;
  } catch (error) {
    return `${what}: run this in a clone of the project (${oneLine(error)})`;
  }
}

/** Leaves tests out where there is no history, and says so. @throws Error instead with `REQUIRE_HISTORY` (.ci/run) */
export async function requireRelease(context: Mocha.Context, release: EarlierRelease): Promise<void> {
  const reason = await whyNoRelease(release);
  if (reason === null) return;
  if (process.env.REQUIRE_HISTORY) throw new Error(reason);
  console.log(`    ${reason}`);
  context.skip();
}

/** @returns the folder that has the files and the packages of a release; it takes half a minute once */
export async function checkoutOf({ name, commit }: EarlierRelease): Promise<string> {
  const folder = join(cacheFolder, `test-release-${commit.slice(0, 12)}`);
  await fillOnce(folder, `installed the release ${name}`, log, async (unfinished) => {
    log(`the release ${name}: not on this machine yet; installing it with npm, which takes a minute once`);
    const archive = join(unfinished, 'release.tar');
    const without = ['test', 'docs', 'bench'].map((each) => `:(exclude)${each}`);
    await git('archive', '--format=tar', `--output=${archive}`, commit, '.', ...without);
    await run('tar', ['-xf', archive, '-C', unfinished]);
    rmSync(archive);
    await npmCi(unfinished, `the release ${name}`, ['--omit=dev']);
  });
  return folder;
}

async function isInHistory(commit: string): Promise<boolean> {
  await git('rev-parse', '--git-dir');
  return git('cat-file', '-e', `${commit}^{commit}`).then(
    () => true,
    () => false,
  );
}

const git = async (...args: string[]): Promise<string> => (await run('git', ['-C', project, ...args])).stdout;
