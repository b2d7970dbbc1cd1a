import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { waitFor } from '../../local/ports.ts';
import { isRunning, outputOf } from '../support/programs/children.ts';
import { processesOf, Run, START_DEADLINE_MS } from '../support/programs/npm-start.ts';

const project = join(import.meta.dirname, '..', '..');

describe('npm start', () => {
  let dataDir: string;
  let runs: Run[];
  let isKept = false;

  beforeEach(() => {
    dataDir = join(project, '.test-data', `start-${process.pid}`);
    runs = [];
  });

  afterEach(async () => {
    for (const run of runs) await run.kill();
    for (const pid of processesOf(dataDir)) process.kill(pid, 'SIGKILL');
    await waitFor(async () => processesOf(dataDir).length === 0 || undefined, 10_000);
    if (!isKept) removeData();
  });

  const removeData = () => rmSync(dataDir, { recursive: true, force: true });

  const start = (settings: Record<string, string> = {}) => {
    const run = new Run(project, dataDir, settings);
    runs.push(run);
    return run;
  };

  // One after the other in one data folder: only the first one has to make its databases.
  describe('again and again', () => {
    before(() => {
      isKept = true;
    });
    after(() => {
      isKept = false;
      removeData();
    });

    it('carries a first webhook with the commands it prints, refuses a second start, ends completely on SIGTERM', async () => {
      const first = start();
      let listening: ChildProcess | undefined;
      try {
        await first.ready();
        expect(first.output).to.match(/API key {6}whr_\S+/);
        expect(statSync(join(dataDir, 'keys', 'api-key')).mode & 0o777).to.equal(0o600);
        const [listen = '', send = '', list = ''] = first.printedCommands();
        const received = startInShell(listen.replace('listen 4000', 'listen 0'));
        listening = received.child;
        await waitFor(async () => received.output().includes('Stop with Ctrl-C') || undefined, 20_000);
        const eventId = runInShell(send).trim();
        expect(eventId).to.match(/^evt_/);
        await waitFor(async () => received.output().includes(`POST ${eventId}`) || undefined, 20_000);
        await waitFor(async () => runInShell(list).includes('delivered') || undefined, 20_000);
        await signsInOnce(first.output);
        // The port was chosen freely; commands of this folder find it.
        expect(whoami(dataDir)).to.include(first.printedUrl());

        const second = start();
        expect(await second.exitCode()).to.equal(1);
        expect(second.problems()).to.deep.equal([
          `hookyard: Another Hookyard process (pid ${first.supervisorPid()}) is already using ${dataDir}; stop it first, or set HOOKYARD_DATA_DIR to another folder`,
        ]);
      } finally {
        await endGroup(listening);
      }
      first.child.kill('SIGTERM');
      expect(await first.exitCode()).to.equal(0);
      // There is no load balancer to drain.
      expect(first.output).to.include('HOOKYARD_DRAIN_SECONDS=0').and.not.include('no longer ready');
      expect(processesOf(dataDir)).to.deep.equal([]);
      // Mistakes of our own, which are tried again and may go unseen.
      expect(first.output).not.to.match(/\b(?:Reference|Type|Range)Error\b/);
      expect(existsSync(join(dataDir, 'run', 'url'))).to.equal(false);
      // The API key is printed once, for its owner to use; no other secret is, and none at all is in a log.
      const [apiKey = '', ...others] = ['keys/api-key', 'keys/encryption-keys', 'postgres-password'].map((name) =>
        readFileSync(join(dataDir, name), 'utf8').trim().replace(/^\w+:/, ''),
      );
      const logs = join(dataDir, 'logs');
      const logged = readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8'));
      expect(logged.join('\n')).to.match(/database system is ready/);
      expect(first.output).to.include(apiKey);
      for (const text of [first.output.replaceAll(apiKey, ''), ...logged]) {
        for (const secret of [apiKey, ...others]) expect(text).to.not.include(secret);
      }
    }).timeout(3 * START_DEADLINE_MS);

    it('starts again after kill -9 of everything, and takes one Ctrl-C that arrives twice as one', async () => {
      const first = start();
      await first.ready();
      const left = processesOf(dataDir);
      for (const pid of [first.child.pid ?? 0, first.supervisorPid(), ...left]) process.kill(pid, 'SIGKILL');
      await first.exitCode();

      const second = start();
      await second.ready();
      expect(second.output).not.to.match(/whr_\w/);
      second.child.kill('SIGINT');
      second.child.kill('SIGINT');
      expect(await second.exitCode()).to.equal(0);
      expect(second.output).not.to.contain('stopping immediately');
      expect(processesOf(dataDir)).to.deep.equal([]);
    }).timeout(3 * START_DEADLINE_MS);

    it('starts a role, PostgreSQL or Temporal again when it is killed', async () => {
      const run = start({ NODE_COMPILE_CACHE: '' });
      await run.ready();
      expect(readdirSync(join(dataDir, 'compiled')), 'what a role that starts again need not compile').to.not.be.empty;
      for (const [name, again] of [
        ['worker', 'worker is running again'],
        ['temporal', 'Temporal is running again'],
        ['postgres', 'PostgreSQL is running again'],
      ] as const) {
        process.kill(Number(readFileSync(join(dataDir, 'run', `${name}.pid`), 'utf8')), 'SIGKILL');
        expect(await waitFor(async () => run.output.includes(again) || undefined, 60_000), again).to.equal(true);
      }
      expect(run.output).to.include('worker exited unexpectedly (signal SIGKILL); restarting it immediately');
      run.child.kill('SIGTERM');
      expect(await run.exitCode()).to.equal(0);
      expect(processesOf(dataDir)).to.deep.equal([]);
    }).timeout(3 * START_DEADLINE_MS);

    it('ends with the reason when PostgreSQL cannot be brought back', async () => {
      const run = start();
      await run.ready();
      rmSync(join(dataDir, 'postgres', 'global', 'pg_control'));
      process.kill(Number(readFileSync(join(dataDir, 'run', 'postgres.pid'), 'utf8')), 'SIGKILL');
      expect(await run.exitCode()).to.equal(1);
      expect(run.problems().at(-1)).to.match(/^hookyard: PostgreSQL keeps exiting: .*pg_control/);
      expect(processesOf(dataDir)).to.deep.equal([]);
    }).timeout(2 * START_DEADLINE_MS);
  });

  it('refuses unknown and wrong variables, one line each', async () => {
    const run = start({ HOOKYARD_PROT: '3000', HOOKYARD_PLAN: 'gold' });
    expect(await run.exitCode()).to.equal(1);
    expect(run.problems()).to.have.length(2);
    expect(run.problems()[0]).to.match(/^hookyard: HOOKYARD_PROT is not a Hookyard setting/);
    expect(run.problems()[1]).to.match(/^hookyard: HOOKYARD_PLAN /);
    expect(existsSync(dataDir)).to.equal(false);
  }).timeout(START_DEADLINE_MS);

  it('does not leave migrations of its own PostgreSQL to others', async () => {
    const run = start({ HOOKYARD_MIGRATE: 'off' });
    expect(await run.exitCode()).to.equal(1);
    expect(run.problems().join()).to.match(/^hookyard: HOOKYARD_MIGRATE is off, .* or set DATABASE_URL/);
    expect(existsSync(dataDir)).to.equal(false);
  }).timeout(START_DEADLINE_MS);

  for (const variable of ['HOOKYARD_PORT', 'POSTGRES_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT']) {
    it(`names ${variable} when that port is taken`, async () => {
      const other = createTcpServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      try {
        const { port } = other.address() as AddressInfo;
        const run = start({ [variable]: String(port) });
        expect(await run.exitCode()).to.equal(1);
        expect(run.problems()).to.have.length(1);
        expect(run.problems()[0]).to.match(new RegExp(`^hookyard: Port ${port}, .* is in use .* set ${variable} `));
        expect(processesOf(dataDir)).to.deep.equal([]);
      } finally {
        other.close();
      }
    }).timeout(START_DEADLINE_MS);
  }

  it('names HOOKYARD_DATA_DIR when the folder cannot be made', async () => {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'file'), '');
    // Nothing can be made in /proc either, for root too.
    for (const folder of [join(dataDir, 'file', 'below'), '/proc/hookyard/data']) {
      const run = start({ HOOKYARD_DATA_DIR: folder });
      expect(await run.exitCode()).to.equal(1);
      expect(run.problems()).to.have.length(1);
      expect(run.problems()[0]).to.contain('set HOOKYARD_DATA_DIR');
    }
  }).timeout(START_DEADLINE_MS);

  it('names DATABASE_URL and TEMPORAL_ADDRESS when those servers cannot be reached', async () => {
    const database = start({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    expect(await database.exitCode()).to.equal(1);
    expect(database.problems()[0]).to.match(/^hookyard: The database in DATABASE_URL cannot be used: .*ECONNREFUSED/);
    const temporal = start({ TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect(await temporal.exitCode()).to.equal(1);
    expect(temporal.problems()[0]).to.match(/^hookyard: Temporal at 127\.0\.0\.1:1 cannot be reached/);
    expect(processesOf(dataDir)).to.deep.equal([]);
  }).timeout(START_DEADLINE_MS);
});

function runInShell(command: string): string {
  return execFileSync('sh', ['-ec', command], { cwd: project, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Starts a command in a process group of its own, as a terminal does. */
function startInShell(command: string): { child: ChildProcess; output(): string } {
  const child = spawn('sh', ['-ec', command], { cwd: project, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  return { child, output: outputOf(child) };
}

/** What Ctrl-C does: it signals all processes of the group. */
async function endGroup(child: ChildProcess | undefined): Promise<void> {
  if (child?.pid === undefined || !isRunning(child)) return;
  const closed = once(child, 'close');
  process.kill(-child.pid, 'SIGINT');
  await closed;
}

/** What `hookyard whoami` prints when nothing but the data folder is named. */
function whoami(dataDir: string): string {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('HOOKYARD_'));
  const env = { ...Object.fromEntries(inherited), HOOKYARD_DATA_DIR: dataDir };
  return execFileSync(process.execPath, [join(project, 'cli', 'hookyard.js'), 'whoami'], { env, encoding: 'utf8' });
}

/** By the link that was printed: the code in it is good for one sign-in, and is no key itself. */
async function signsInOnce(output: string): Promise<void> {
  const { origin, pathname, hash } = new URL(/^ {2}Console +(\S+)$/m.exec(output)?.[1] ?? '');
  expect(pathname).to.equal('/console/');
  const [, code = ''] = /^#code=(.+)$/.exec(hash) ?? [];
  const signIn = () =>
    fetch(`${origin}/api/auth/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    });
  const caller = (key: string) => fetch(`${origin}/api/auth/me`, { headers: { authorization: `Bearer ${key}` } });
  expect((await caller(code)).status).to.equal(401);
  const { token } = (await (await signIn()).json()) as { token: string };
  expect((await caller(token)).status).to.equal(200);
  expect((await signIn()).status).to.equal(401);
}
