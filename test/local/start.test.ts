import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { waitFor } from '../../local/wait.ts';

const project = join(import.meta.dirname, '..', '..');
const startDeadlineMs = 120_000;

describe('npm start', () => {
  let dataDir: string;
  let runs: Run[];

  beforeEach(() => {
    dataDir = join(project, '.test-data', `start-${process.pid}`);
    runs = [];
  });

  afterEach(async () => {
    for (const run of runs) await run.kill();
    for (const pid of processesOf(dataDir)) process.kill(pid, 'SIGKILL');
    await waitFor(async () => processesOf(dataDir).length === 0 || undefined, 10_000);
    rmSync(dataDir, { recursive: true, force: true });
  });

  const start = (settings: Record<string, string> = {}) => {
    const run = new Run({ HOOKYARD_DATA_DIR: dataDir, ...settings });
    runs.push(run);
    return run;
  };

  it('carries a first webhook with the commands it prints, refuses a second start, ends completely on SIGTERM', async () => {
    const receiver = await startReceiver();
    const first = start();
    try {
      await first.ready();
      expect(first.output).to.match(/API key {6}whr_\S+/);
      expect(statSync(join(dataDir, 'keys', 'api-key')).mode & 0o777).to.equal(0o600);
      runInShell(first.printedCommands().replaceAll('127.0.0.1:4000', `127.0.0.1:${receiver.port}`));
      expect(await waitFor(async () => receiver.bodies[0], 20_000)).to.equal('{"order":42}');

      const second = start();
      expect(await second.exitCode()).to.equal(1);
      expect(second.problems()).to.deep.equal([
        `hookyard: Hookyard already runs on ${dataDir} (pid ${first.supervisorPid()}); stop it first, or set HOOKYARD_DATA_DIR to another folder.`,
      ]);
    } finally {
      receiver.server.close();
    }
    first.child.kill('SIGTERM');
    expect(await first.exitCode()).to.equal(0);
    // There is no balancer to be told first.
    expect(first.output).to.include('HOOKYARD_DRAIN_SECONDS=0').and.not.include('not ready any more');
    expect(processesOf(dataDir)).to.deep.equal([]);
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
  }).timeout(3 * startDeadlineMs);

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
    expect(second.output).not.to.contain('ending at once');
    expect(processesOf(dataDir)).to.deep.equal([]);
  }).timeout(3 * startDeadlineMs);

  it('starts again when only the supervisor was killed, ending what it left', async () => {
    const first = start();
    await first.ready();
    process.kill(first.supervisorPid(), 'SIGKILL');
    await first.exitCode();
    expect(processesOf(dataDir)).not.to.deep.equal([]);

    const second = start();
    await second.ready();
    expect(second.output).to.match(/ending postgres \(pid \d+\), left over from an earlier run/);
    second.child.kill('SIGTERM');
    expect(await second.exitCode()).to.equal(0);
    expect(processesOf(dataDir)).to.deep.equal([]);
  }).timeout(3 * startDeadlineMs);

  it('starts a role, PostgreSQL or Temporal again when it is killed', async () => {
    const run = start();
    await run.ready();
    for (const [name, again] of [
      ['worker', 'worker is ready again'],
      ['temporal', 'Temporal runs again'],
      ['postgres', 'PostgreSQL runs again'],
    ] as const) {
      process.kill(Number(readFileSync(join(dataDir, 'run', `${name}.pid`), 'utf8')), 'SIGKILL');
      expect(await waitFor(async () => run.output.includes(again) || undefined, 60_000), again).to.equal(true);
    }
    run.child.kill('SIGTERM');
    expect(await run.exitCode()).to.equal(0);
    expect(processesOf(dataDir)).to.deep.equal([]);
  }).timeout(3 * startDeadlineMs);

  it('ends with the reason when PostgreSQL cannot be brought back', async () => {
    const run = start();
    await run.ready();
    rmSync(join(dataDir, 'postgres', 'global', 'pg_control'));
    process.kill(Number(readFileSync(join(dataDir, 'run', 'postgres.pid'), 'utf8')), 'SIGKILL');
    expect(await run.exitCode()).to.equal(1);
    expect(run.problems().at(-1)).to.match(/^hookyard: PostgreSQL cannot be kept running: .*pg_control/);
    expect(processesOf(dataDir)).to.deep.equal([]);
  }).timeout(2 * startDeadlineMs);

  it('refuses unknown and wrong variables, one line each', async () => {
    const run = start({ HOOKYARD_PROT: '3000', HOOKYARD_PLAN: 'gold' });
    expect(await run.exitCode()).to.equal(1);
    expect(run.problems()).to.have.length(2);
    expect(run.problems()[0]).to.match(/^hookyard: HOOKYARD_PROT is not a setting/);
    expect(run.problems()[1]).to.match(/^hookyard: HOOKYARD_PLAN /);
    expect(existsSync(dataDir)).to.equal(false);
  }).timeout(startDeadlineMs);

  for (const variable of ['HOOKYARD_PORT', 'POSTGRES_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT']) {
    it(`names ${variable} when that port is taken`, async () => {
      const other = createTcpServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      try {
        const { port } = other.address() as AddressInfo;
        const run = start({ [variable]: String(port) });
        expect(await run.exitCode()).to.equal(1);
        expect(run.problems()).to.have.length(1);
        expect(run.problems()[0]).to.match(new RegExp(`^hookyard: Port ${port}, .* is taken .* set ${variable} `));
        expect(processesOf(dataDir)).to.deep.equal([]);
      } finally {
        other.close();
      }
    }).timeout(startDeadlineMs);
  }

  it('names HOOKYARD_DATA_DIR when the folder cannot be made', async () => {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'file'), '');
    const run = start({ HOOKYARD_DATA_DIR: join(dataDir, 'file', 'below') });
    expect(await run.exitCode()).to.equal(1);
    expect(run.problems()).to.have.length(1);
    expect(run.problems()[0]).to.contain('set HOOKYARD_DATA_DIR');
  }).timeout(startDeadlineMs);

  it('names DATABASE_URL and TEMPORAL_ADDRESS when those servers cannot be reached', async () => {
    const database = start({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    expect(await database.exitCode()).to.equal(1);
    expect(database.problems()[0]).to.match(/^hookyard: The database of DATABASE_URL cannot be used: .*ECONNREFUSED/);
    const temporal = start({ TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect(await temporal.exitCode()).to.equal(1);
    expect(temporal.problems()[0]).to.match(/^hookyard: Temporal at 127\.0\.0\.1:1 cannot be reached/);
    expect(processesOf(dataDir)).to.deep.equal([]);
  }).timeout(startDeadlineMs);
});

/** One `npm start` (without npm's own process), on free ports unless told otherwise. */
class Run {
  readonly child: ChildProcess;
  output = '';
  private errors = '';
  private readonly exited: Promise<number | null>;

  constructor(settings: Record<string, string>) {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(HOOKYARD_|TEMPORAL_|DATABASE_URL$)/.test(name),
    );
    const ports = { HOOKYARD_PORT: '0', POSTGRES_PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' };
    this.child = spawn(process.execPath, ['local/bootstrap.js', 'local/main.ts'], {
      cwd: project,
      env: { ...Object.fromEntries(inherited), npm_lifecycle_event: '', LOG_LEVEL: 'warn', ...ports, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk) => (this.output += String(chunk)));
    this.child.stderr?.on('data', (chunk) => (this.errors += String(chunk)));
    this.exited = new Promise((resolve) => this.child.once('exit', resolve));
  }

  /** Waits until the last of the first steps is printed. */
  async ready(): Promise<void> {
    const ended = this.exited.then(() => true);
    const printed = async () => this.output.includes('/ingest/default/orders') || undefined;
    const stopped = await Promise.race([ended, waitFor(printed, startDeadlineMs).then(() => false)]);
    if (stopped || !(await printed()))
      throw new Error(`npm start did not become ready:\n${this.output}\n${this.errors}`);
  }

  exitCode(): Promise<number | null> {
    return this.exited;
  }

  problems(): string[] {
    return this.errors.trim().split('\n');
  }

  printedCommands(): string {
    return this.output
      .split('\n')
      .filter((line) => /^(SOURCE=|DESTINATION=|curl )/.test(line))
      .join('\n');
  }

  supervisorPid(): number {
    const holder: { pid: number } = JSON.parse(readFileSync(this.lockFile(), 'utf8'));
    return holder.pid;
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGTERM');
    await this.exited;
  }

  private lockFile(): string {
    return join(project, '.test-data', `start-${process.pid}`, 'run', 'supervisor.lock');
  }
}

/** Every process whose command line names the folder: what a start has to end. */
function processesOf(folder: string): number[] {
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,stat=,args='], { encoding: 'utf8' }).split('\n');
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([pid, state = '', ...args]) => pid && !state.startsWith('Z') && args.join(' ').includes(folder))
    .map(([pid]) => Number(pid));
}

function runInShell(commands: string): void {
  execFileSync('sh', ['-e'], { input: commands, encoding: 'utf8' });
}

async function startReceiver(): Promise<{ server: Server; port: number; bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    bodies.push(body);
    response.end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port, bodies };
}
