// The commands of docs/operate/production.md, "From nothing", as they stand there, on a PostgreSQL of their own: roles,
// migrations, processes, checks.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePorts } from '../../local/ports.ts';
import { START_DEADLINE_MS } from '../support/programs/npm-start.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/servers/own-postgres.ts';
import { stackAddresses } from '../support/stack.ts';

const project = join(import.meta.dirname, '..', '..');

/**
 * Leaves the test out when a command is not on this machine, and says so.
 * @throws Error instead with `REQUIRE_PSQL` (.ci/run)
 */
function requireCommands(context: Mocha.Context): void {
  if (!['psql', 'curl', 'openssl'].some((command) => spawnSync(command, ['--version']).error)) return;
  const how =
    'psql, curl or openssl is not installed: "apt-get install postgresql-client curl openssl" lets this test run';
  if (process.env.REQUIRE_PSQL) throw new Error(how);
  console.log(`    ${how}`);
  context.skip();
}

describe('the commands of docs/operate/production.md', function () {
  this.timeout(3 * START_DEADLINE_MS);
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-from-nothing-'));
  let own: OwnPostgres | undefined;
  let shell: ChildProcess | undefined;
  before(async function () {
    requireCommands(this);
    own = await startOwnPostgres('from-nothing', { other: {} });
  });
  after(async () => {
    await endGroup();
    await own?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The steps, without the first one and those of Temporal's command line, which is not on this machine. */
  function commands(): string {
    const page = readFileSync(join(project, 'docs', 'operate', 'production.md'), 'utf8');
    const [, section = ''] = /^## From nothing$([\s\S]*?)^## /m.exec(page) ?? [];
    const blocks = [...section.matchAll(/^ {3}```sh\n([\s\S]*?)^ {3}```$/gm)].map(([, text = '']) =>
      text.replaceAll(/^ {3}/gm, ''),
    );
    expect(blocks).to.have.length(7);
    return blocks.filter((text) => !/^(?:git clone|temporal) /.test(text)).join('\n');
  }

  /** Ends the shell with what it started; its processes end in order. */
  async function endGroup(): Promise<void> {
    if (shell?.pid === undefined) return;
    const closed = once(shell, 'close');
    try {
      process.kill(-shell.pid, 'SIGTERM');
      await closed;
    } catch {
      // They have ended.
    }
    shell = undefined;
  }

  it('lead from nothing to a webhook that is stored', async () => {
    if (!own) throw new Error('there is no PostgreSQL');
    const [port, apiMetrics, workerMetrics] = await freePorts(3);
    const admin = own.postgres.url('postgres');
    const namespace = `nothing-${randomBytes(4).toString('hex')}`;
    const changes: [string | RegExp, string][] = [
      [/^export DATABASE_HOST=.*$/m, `export DATABASE_HOST=${own.address}`],
      [/^export DATABASE_ADMIN_URL=.*$/m, `export DATABASE_ADMIN_URL='${admin}'`],
      [
        /^export TEMPORAL_ADDRESS=.*$/m,
        `export TEMPORAL_ADDRESS=${stackAddresses().temporalAddress} TEMPORAL_NAMESPACE=${namespace}`,
      ],
      [/^export HOOKYARD_PUBLIC_URL=.*$/m, `export HOOKYARD_PUBLIC_URL=http://127.0.0.1:${port}`],
      [/^export SECRETS=.*$/m, `export SECRETS=${join(folder, 'secrets')}`],
      [/(?<=12 )npm run api &$/m, `HOOKYARD_PORT=${port} OTEL_EXPORTER_PROMETHEUS_PORT=${apiMetrics} npm run api &`],
      [/(?<=8 )npm run worker &$/m, `OTEL_EXPORTER_PROMETHEUS_PORT=${workerMetrics} npm run worker &`],
    ];
    let script = commands();
    for (const [line, mine] of changes) {
      expect(script).to.match(new RegExp(line));
      script = script.replace(line, () => mine);
    }
    script = script
      .replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`)
      .replaceAll('127.0.0.1:9465', `127.0.0.1:${workerMetrics}`);
    const inherited = Object.entries(process.env).filter(([name]) => !/^(HOOKYARD|TEMPORAL|DATABASE|npm)_/.test(name));
    shell = spawn('bash', ['-euo', 'pipefail', '-c', `${script}\necho all steps are done\nwait`], {
      cwd: project,
      env: { ...Object.fromEntries(inherited), HOOKYARD_DATA_DIR: join(folder, 'data'), HOOKYARD_DRAIN_SECONDS: '0' },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const done = new Promise<void>((resolve, reject) => {
      for (const stream of [shell?.stdout, shell?.stderr])
        stream?.setEncoding('utf8').on('data', (part: string) => {
          output += part;
          if (output.includes('all steps are done')) resolve();
        });
      shell?.once('exit', (code) => reject(new Error(`the commands ended with ${code}:\n${output}`)));
    });
    await done;
    expect(output).to.include("hookyard_runtime has the services' privileges");
    expect(output).to.include('the database is up to date');
    expect(output).to.include("the management API sees one organization's rows at a time");
    expect(output).to.include('"searchAttributes":true');
    expect(output).to.match(/^evt_/m);
  });
});
