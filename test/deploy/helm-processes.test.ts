// What the chart starts with all its values, as processes instead of containers: the commands, settings, files and
// probes that it renders, on real servers.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { newToken } from '../../core/config/api-token.ts';
import { freePorts } from '../../local/ports.ts';
import { bundleWorkflows } from '../../worker/temporal/workflow-bundle.ts';
import { createClient } from '../support/api-client.ts';
import { outputOf } from '../support/programs/children.ts';
import { COLD_START_MS } from '../support/programs/go-program.ts';
import {
  type Container,
  containerOf,
  type Manifest,
  manifest,
  manifestsOf,
  podOf,
} from '../support/programs/kubernetes/manifests.ts';
import { template } from '../support/programs/kubernetes/tools.ts';
import { type CreatedDatabase, createDatabase } from '../support/database/own-database.ts';
import { quietLogger } from '../support/servers/quiet-temporal.ts';
import { asServices, stackAddresses } from '../support/stack.ts';
import { until } from '../support/until.ts';

const project = join(import.meta.dirname, '..', '..');
const MOUNTED = '/etc/hookyard';

describe('The processes of the Helm chart', function () {
  this.timeout(COLD_START_MS);
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-pods-'));
  const [token, operatorKey] = [newToken(), randomBytes(32).toString('hex')];
  const children: { name: string; child: ChildProcess; output: () => string }[] = [];
  let database: CreatedDatabase;
  let manifests: Manifest[];
  before(async () => {
    // The image brings the bundle of the workflows.
    await bundleWorkflows(quietLogger);
    database = await createDatabase(`pods_${process.pid}`);
    const { temporalAddress } = stackAddresses();
    const [port, metrics, workerMetrics] = await freePorts(3);
    const set = [
      ...[`temporal.address=${temporalAddress}`, `temporal.namespace=pods-${randomBytes(4).toString('hex')}`],
      ...[`api.port=${port}`, `api.metricsPort=${metrics}`, `worker.metricsPort=${workerMetrics}`, 'drainSeconds=0'],
    ];
    const values = join(import.meta.dirname, 'helm', 'everything.yaml');
    manifests = manifestsOf(await template('--values', values, '--set', set.join(',')));
    // As the Secret holds them, by the names that the chart mounts them as.
    const secrets = {
      'database-url': asServices(database.databaseUrl),
      'migrate-database-url': database.databaseUrl,
      'encryption-keys': `k1:${randomBytes(32).toString('base64')}`,
      'api-key': token,
      'direct-url': asServices(database.databaseUrl),
      'operator-key': operatorKey,
      url: 'smtp://127.0.0.1:1',
      id: 'operator',
      secret: randomBytes(16).toString('hex'),
    };
    for (const pod of [of('Job', '-migrate'), of('Deployment', '-api'), of('Deployment', '-worker')]) {
      // Two of them mount other secrets by the same name.
      const mounted = join(folderOf(containerOf(pod)), 'secrets');
      mkdirSync(mounted, { recursive: true });
      for (const { secret } of pod.volumes.flatMap(({ projected }) => projected?.sources ?? [])) {
        for (const { key, path } of secret.items)
          writeFileSync(join(mounted, path), secrets[key as keyof typeof secrets]);
      }
    }
  });
  after(async () => {
    for (const { child } of children) child.kill('SIGKILL');
    await database?.drop();
    rmSync(folder, { recursive: true });
  });

  const folderOf = ({ name }: Container) => join(folder, name);
  const of = (kind: string, ending: string) => podOf(manifest(manifests, kind, ending));

  /**
   * The container as a process: with its settings and nothing else, and a file system that it may only read, but for
   * /tmp.
   */
  function start(container: Container) {
    const [program, ...args] = [...container.command, ...(container.args ?? [])];
    expect(program).to.equal('node');
    const [, ofImage = ''] = /^ENV (.*)$/m.exec(readFileSync(join(project, 'Dockerfile'), 'utf8')) ?? [];
    const child = spawn(process.execPath, args, {
      cwd: project,
      env: {
        ...Object.fromEntries(ofImage.split(' ').map((pair) => pair.split('='))),
        ...Object.fromEntries(
          (container.env ?? []).map(({ name, value }) => [name, value.replace(MOUNTED, folderOf(container))]),
        ),
        NODE_OPTIONS: '--permission --allow-fs-read=* --allow-fs-write=/tmp --allow-worker --allow-addons --allow-wasi',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const started = { name: container.name, child, output: outputOf(child) };
    children.push(started);
    return started;
  }

  const portOf = ({ ports = [] }: Container, name: string) =>
    ports.find((port) => port.name === name)?.containerPort ?? 0;

  async function answersProbes(container: Container, { child, output }: ReturnType<typeof start>) {
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      if (!probe) throw new Error(`${container.name} lacks a probe`);
      const url = `http://127.0.0.1:${portOf(container, probe.httpGet.port)}${probe.httpGet.path}`;
      await until(
        `${container.name} to answer ${url}`,
        async () => {
          if (child.exitCode !== null) throw new Error(`it ended: ${output()}`);
          const { status } = await fetch(url);
          if (status !== 200) throw new Error(`it answers ${status}: ${output().slice(-2000)}`);
          return true;
        },
        120_000,
      );
    }
  }

  it('are brought up by their files and settings alone: migrations first, then API and worker until all their probes answer', async () => {
    const migrate = start(containerOf(of('Job', '-migrate')));
    const [code] = await once(migrate.child, 'exit');
    expect(code, migrate.output()).to.equal(0);
    expect(migrate.output()).to.include("hookyard_runtime has the services' privileges");
    const [, worker] = await Promise.all(
      ['api', 'worker'].map(async (role) => {
        const container = containerOf(of('Deployment', `-${role}`));
        const started = start(container);
        await answersProbes(container, started);
        return started;
      }),
    );
    await until('its release to be the current one', () =>
      worker?.output().includes('this release is now the current one'),
    );
    const api = containerOf(of('Deployment', '-api'));
    const { organization } = await createClient(`http://127.0.0.1:${portOf(api, 'http')}`, token).get<{
      organization: { slug: string };
    }>('/api/auth/me');
    expect(organization.slug).to.equal('default');
    const operator = createClient(`http://127.0.0.1:${portOf(api, 'http')}`, operatorKey);
    expect((await operator.request('GET', '/api/status')).status).to.equal(200);
    for (const role of ['api', 'worker']) {
      const container = containerOf(of('Deployment', `-${role}`));
      const metrics = await (await fetch(`http://127.0.0.1:${portOf(container, 'metrics')}/metrics`)).text();
      expect(metrics, role).to.include('hookyard_build_info');
    }
  });

  it('end in order when they are told to', async () => {
    for (const { name, child, output } of children.filter((each) => each.name !== 'migrate')) {
      child.kill('SIGTERM');
      const [code, signal] = await once(child, 'exit');
      expect(code ?? signal, `${name}: ${output().slice(-2000)}`).to.equal(0);
      expect(output()).to.not.include('ERR_ACCESS_DENIED');
    }
  });
});
