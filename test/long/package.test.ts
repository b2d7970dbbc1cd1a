// The package as npm packs it: installed into an empty folder, it does what `npm start` does in a checkout. Packing writes
// beside the sources, so a copy of them is packed.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { expect } from 'chai';
import { processesOf } from '../support/programs/npm-start.ts';
import { until } from '../support/until.ts';

const project = join(import.meta.dirname, '..', '..');
const MINUTE_MS = 60_000;

/** What a checkout has beside its sources, by the path in it. */
const NOT_COPIED =
  /(?:^|\/)node_modules$|^(?:\.git|\.test-data|data|dist|client\/dist|console\/(?:dist|built)|bench\/results)$/;

const isOfSystem = (path: string) => !path.includes('node_modules');

describe('the package', function () {
  this.timeout(15 * MINUTE_MS);
  const folder = join(tmpdir(), `hookyard-package-${process.pid}`);
  const prefix = join(folder, 'prefix');
  const checkout = join(folder, 'checkout');
  const empty = join(folder, 'empty');
  const home = join(folder, 'data-home');
  const dataDir = join(home, 'hookyard');
  const children: ChildProcess[] = [];
  const environment = {
    ...Object.fromEntries(
      Object.entries(process.env).filter(
        ([name]) => !/^(HOOKYARD_|TEMPORAL_|DATABASE_|npm_|NODE_(?!EXTRA_CA_CERTS$))/.test(name),
      ),
    ),
    // Without the programs of this checkout: anyone who installs the package has those of the system.
    PATH: [join(prefix, 'bin'), ...(process.env.PATH ?? '').split(delimiter).filter(isOfSystem)].join(delimiter),
    XDG_DATA_HOME: home,
    ...{
      HOOKYARD_PORT: '0',
      OTEL_EXPORTER_PROMETHEUS_PORT: '0',
      POSTGRES_PORT: '0',
      TEMPORAL_PORT: '0',
      TEMPORAL_UI_PORT: '0',
    },
    LOG_LEVEL: 'warn',
  };

  before(() => {
    for (const made of [folder, prefix, empty, home]) mkdirSync(made);
    const filter = (path: string) => !NOT_COPIED.test(relative(project, path));
    cpSync(project, checkout, { recursive: true, filter, verbatimSymlinks: true });
    symlinkSync(join(project, 'node_modules'), join(checkout, 'node_modules'));
    run('npm', ['pack', '--pack-destination', folder], checkout);
    const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    const quiet = ['--no-audit', '--no-fund', '--prefer-offline'];
    run('npm', ['install', '--global', '--prefix', prefix, ...quiet, join(folder, tarball)], empty);
  });
  after(async () => {
    for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
    for (const pid of processesOf(folder)) process.kill(pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  function run(command: string, args: string[], cwd: string): string {
    const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env: environment, encoding: 'utf8' });
    expect(status, `${command} ${args.join(' ')}: ${error ?? ''}\n${stdout}\n${stderr}`).to.equal(0);
    return stdout;
  }

  function start(command: string, args: string[] = []): { child: ChildProcess; output: () => string } {
    const child = spawn(command, args, { cwd: empty, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    children.push(child);
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
    return { child, output: () => text };
  }

  it('leaves nothing behind where it was packed, and says what its program is for', () => {
    expect(existsSync(join(checkout, 'npm-shrinkwrap.json'))).to.equal(false);
    expect(run('hookyard-server', ['--help'], empty)).to.include('Usage: hookyard-server');
    expect(run('hookyard', ['--version'], empty)).to.match(/^\d+\.\d+\.\d+/);
  });

  it('carries a first webhook from an empty folder, keeps its data with the user, and drains on SIGTERM', async () => {
    const server = start('hookyard-server');
    await until('the first steps', () => server.output().includes('deliveries list') || ended(server), 3 * MINUTE_MS);
    expect(server.output(), server.output()).to.include('deliveries list').and.not.include('npx hookyard');
    expect(existsSync(join(dataDir, 'keys', 'api-key'))).to.equal(true);
    expect(readdirSync(empty)).to.deep.equal([]);

    const listening = start('hookyard', ['listen', '0', '--source', 'orders']);
    await until('it to listen', () => listening.output().includes('Ctrl-C ends it') || ended(listening));
    const eventId = run('hookyard', ['send', '--source', 'orders'], empty).trim();
    expect(eventId).to.match(/^evt_/);
    await until('the webhook', () => listening.output().includes(`POST ${eventId}`));
    await until('its delivery', () => run('hookyard', ['deliveries', 'list'], empty).includes('delivered'));
    listening.child.kill('SIGINT');
    await once(listening.child, 'exit');

    const url = /^ {2}API +(\S+)$/m.exec(server.output())?.[1] ?? '';
    const page = await fetch(`${url}/console/`);
    expect([page.status, await page.text()].join('\n')).to.match(/^200\n<!doctype html>/i);

    server.child.kill('SIGTERM');
    const [code] = (await once(server.child, 'exit')) as [number | null];
    expect(code, server.output()).to.equal(0);
    expect(server.output()).to.include('everything has ended');
    expect(processesOf(dataDir)).to.deep.equal([]);
  });
});

/** So that a wait for its output ends. @throws with that */
function ended({ child, output }: { child: ChildProcess; output: () => string }): false {
  if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}:\n${output()}`);
  return false;
}
