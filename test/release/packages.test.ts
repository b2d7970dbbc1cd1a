// npm run release:dry: what release/build.ts made, installed into empty folders as users install it, without this
// checkout. One hookyard-server runs for all of them.
import { type ChildProcess, execFile, execFileSync, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { outputOf } from '../support/programs/children.ts';
import { processesOf } from '../support/programs/npm-start.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { project, version } from '../../release/npm-packages.ts';
import { startRegistry } from './registry.ts';

const release = join(project, 'dist', 'release');
const MINUTE_MS = 60_000;
const MOST_START_MS = 300;
const MOST_CLI_BYTES = 3 * 1024 * 1024;

describe('the release', function () {
  this.timeout(15 * MINUTE_MS);
  const folder = join(tmpdir(), `hookyard-release-${process.pid}`);
  const home = join(folder, 'data-home');
  const children: ChildProcess[] = [];
  const npmTarball = (name: string) => join(release, 'npm', `${name}-${version}.tgz`);
  const environment: NodeJS.ProcessEnv = {
    ...Object.fromEntries(
      Object.entries(process.env).filter(
        ([name]) => !/^(HOOKYARD_|TEMPORAL_|DATABASE_|npm_|NODE_(?!EXTRA_CA_CERTS$))/.test(name),
      ),
    ),
    // Without the programs of this checkout, but with its Node before that of the system, which may be older than the
    // command line takes.
    PATH: [
      join(project, 'node_modules', 'node', 'bin'),
      ...(process.env.PATH ?? '').split(delimiter).filter((path) => !path.includes('node_modules')),
    ].join(delimiter),
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
  let registry: Awaited<ReturnType<typeof startRegistry>>;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let server: Started;
  let api: { url: string; key: string };

  before(async () => {
    for (const made of [folder, home]) mkdirSync(made);
    receiver = await startReceiver();
    // Serves the three packages as if they were published.
    registry = await startRegistry(globSync(join(release, 'npm', '*.tgz')));
    // What npm has fetched before is not fetched again.
    const usual = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim();
    const cache = join(folder, 'npm-cache');
    mkdirSync(cache);
    if (existsSync(join(usual, '_cacache'))) symlinkSync(join(usual, '_cacache'), join(cache, '_cacache'));
    Object.assign(environment, { npm_config_registry: registry.url, npm_config_cache: cache });
    // What a newcomer does.
    server = start(emptyFolder('start'), 'npx', ['--yes', 'hookyard', 'start']);
    const isOver = () => server.output().includes('deliveries list') || server.child.exitCode !== null;
    await until('the first steps', isOver, 10 * MINUTE_MS).catch((error) => {
      throw new Error(`${error.message}; it printed:\n${server.output()}`);
    });
    ended(server);
    const url = /^ {2}API +(\S+)$/m.exec(server.output())?.[1] ?? '';
    api = { url, key: readFileSync(join(home, 'hookyard', 'keys', 'api-key'), 'utf8').trim() };
  });
  after(async () => {
    for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
    for (const pid of processesOf(folder)) process.kill(pid, 'SIGKILL');
    await receiver?.close();
    registry?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function emptyFolder(name: string): string {
    mkdirSync(join(folder, name));
    return join(folder, name);
  }

  /** Not by spawnSync: the registry is in this process. */
  async function run(cwd: string, command: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
    const options = { cwd, env: { ...environment, ...env }, maxBuffer: 64 * 1024 * 1024 };
    const { stdout } = await promisify(execFile)(command, args, options).catch((error) => {
      throw new Error(`${error.message}\n${error.stdout}`);
    });
    return stdout;
  }

  function start(cwd: string, command: string, args: string[]): Started {
    const stdio: StdioOptions = ['ignore', 'pipe', 'pipe'];
    const child = spawn(command, args, { cwd, env: environment, stdio, detached: true });
    children.push(child);
    return { child, output: outputOf(child) };
  }

  const install = (cwd: string, ...packages: string[]) =>
    run(cwd, 'npm', ['install', '--no-audit', '--no-fund', ...packages]);

  it('hookyard: small, quick to start, and carries a first webhook', async () => {
    const cwd = emptyFolder('cli');
    await install(cwd, npmTarball('hookyard'));
    expect(readdirSync(join(cwd, 'node_modules')).filter((name) => !name.startsWith('.'))).to.deep.equal(['hookyard']);
    expect(Number((await run(cwd, 'du', ['-sb', 'node_modules'])).split('\t')[0])).to.be.below(MOST_CLI_BYTES);

    const bin = join(cwd, 'node_modules', '.bin', 'hookyard');
    await run(cwd, bin, ['providers', 'github']); // fills the cache of compiled code
    // Time of the processor, which other programs of the machine do not stretch.
    const timed = `TIMEFORMAT='%U %S'; { time ${bin} providers github > /dev/null; } 2>&1`;
    const seconds = (await run(cwd, 'bash', ['-c', timed])).trim().split(' ').map(Number);
    expect(1000 * seconds.reduce((sum, each) => sum + each, 0)).to.be.below(MOST_START_MS);

    const listening = start(cwd, bin, ['listen', '0', '--source', 'orders']);
    await until('it to listen', () => listening.output().includes('Stop with Ctrl-C') || ended(listening));
    const eventId = (await run(cwd, bin, ['send', '--source', 'orders'])).trim();
    expect(eventId).to.match(/^evt_/);
    await until('the webhook', () => listening.output().includes(`POST ${eventId}`));
    await until('its delivery', async () => (await run(cwd, bin, ['deliveries', 'list'])).includes('delivered'));
    listening.child.kill('SIGINT');
    await once(listening.child, 'exit');

    expect(await run(cwd, bin, ['diagnose']))
      .to.include(`service: ${version}`)
      .and.include('alive: ok');
    expect(await run(cwd, bin, ['mcp', '--help'])).to.include('Usage');
    const { status, stderr } = spawnSync(bin, ['orgs', 'list'], { cwd, env: environment, encoding: 'utf8' });
    expect([status, stderr]).to.deep.equal([
      1,
      'hookyard: This command accesses the database directly and is part of the hookyard-server package; run it with npx hookyard-server instead of hookyard\n',
    ]);
  });

  it('hookyard-server: serves the console, and has the commands that work on the database', async () => {
    const page = await fetch(`${api.url}/console/`);
    expect([page.status, await page.text()].join('\n')).to.match(/^200\n<!doctype html>/i);
    const cwd = emptyFolder('server');
    await install(cwd, npmTarball('hookyard-server'));
    const bin = join(cwd, 'node_modules', '.bin', 'hookyard-server');
    expect(await run(cwd, bin, ['--help'])).to.include('Usage: hookyard-server');
    expect(await run(cwd, bin, ['orgs', 'list'])).to.include('default');
    // The client is a package of its own.
    expect(existsSync(join(cwd, 'node_modules', 'hookyard-server', 'client', 'dist'))).to.equal(false);
  });

  it('@hookyard/client: in Node, in a browser bundle, and with its types', async () => {
    const cwd = emptyFolder('client');
    await install(cwd, npmTarball('hookyard-client'));
    expect(readdirSync(join(cwd, 'node_modules')).filter((name) => !name.startsWith('.'))).to.deep.equal(['@hookyard']);
    writeFileSync(
      join(cwd, 'story.mjs'),
      `import { createClient } from '@hookyard/client';
      const client = createClient({ url: process.env.API, apiKey: process.env.KEY });
      ${STORY_IN_JAVASCRIPT}`,
    );
    const endpoint = receiver.endpoint();
    await run(cwd, 'node', ['story.mjs'], { API: api.url, KEY: api.key, RECEIVER: endpoint.url });
    await until('the webhook', () => endpoint.requests.length === 1);
    await run(cwd, 'npx', ['--yes', 'node@20', 'story.mjs'], { API: api.url, KEY: api.key, RECEIVER: endpoint.url });
    await until('the webhook', () => endpoint.requests.length === 2);

    writeFileSync(
      join(cwd, 'typed.mts'),
      `import { createClient, type Source } from '@hookyard/client';
      export const made: Promise<Source> = createClient({ url: 'http://x' }).getSource({ id: 'src_1' });`,
    );
    const modules = join(project, 'node_modules');
    await run(cwd, join(modules, 'typescript', 'bin', 'tsc'), [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      'typed.mts',
    ]);
    await run(cwd, join(modules, 'esbuild', 'bin', 'esbuild'), [
      'story.mjs',
      '--bundle',
      '--platform=browser',
      '--format=esm',
    ]);
  });

  it('the Python package', async () => {
    const cwd = emptyFolder('python');
    await run(cwd, 'python3', ['-m', 'venv', 'venv']);
    const python = join(cwd, 'venv', 'bin', 'python');
    const [wheel = ''] = globSync(join(release, 'python', '*.whl'));
    expect(globSync(join(release, 'python', '*.tar.gz'))).to.have.lengthOf(1);
    await run(cwd, python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', wheel]);
    const endpoint = receiver.endpoint();
    await run(cwd, python, ['-c', STORY_IN_PYTHON], { API: api.url, KEY: api.key, RECEIVER: endpoint.url });
    await until('the webhook', () => endpoint.requests.length === 1);
  });

  it('the Go module', async () => {
    const cwd = emptyFolder('go');
    writeFileSync(join(cwd, 'main.go'), STORY_IN_GO);
    await run(cwd, 'go', ['mod', 'init', 'story']);
    const env = {
      GOPROXY: `file://${join(release, 'go')}`,
      GONOSUMDB: '*',
      GOFLAGS: '-mod=mod -modcacherw',
      GOMODCACHE: join(cwd, 'cache'),
    };
    await run(cwd, 'go', ['get', `github.com/hookyard/hookyard-go@v${version}`], env);
    const endpoint = receiver.endpoint();
    await run(cwd, 'go', ['run', '.'], { ...env, API: api.url, KEY: api.key, RECEIVER: endpoint.url });
    await until('the webhook', () => endpoint.requests.length === 1);
  });

  it('keeps its data with the user, and ends in order on Ctrl-C', async () => {
    expect(readdirSync(join(folder, 'start'))).to.deep.equal([]);
    const dataDir = join(home, 'hookyard');
    // A terminal sends it to the whole process group.
    process.kill(-(server.child.pid ?? 0), 'SIGINT');
    await until('its end', () => server.output().includes('everything has stopped'));
    expect(processesOf(dataDir)).to.deep.equal([]);
  });
});

interface Started {
  child: ChildProcess;
  output: () => string;
}

/** So that a wait for its output ends. @throws with that */
function ended({ child, output }: Started): false {
  if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}:\n${output()}`);
  return false;
}

const STORY_IN_JAVASCRIPT = `
const slug = 'js-' + Date.now();
const source = await client.createSource({ body: { name: slug, slug } });
const destination = await client.createDestination({ body: { name: slug, url: process.env.RECEIVER } });
await client.createRoute({ body: { name: slug, sourceId: source.id, destinationIds: [destination.id] } });
await fetch(source.webhookUrl, { method: 'POST', body: '{}' });`;

const STORY_IN_PYTHON = `
import os, urllib.request
from hookyard import Hookyard
hookyard = Hookyard(os.environ["API"], os.environ["KEY"])
source = hookyard.create_source({"name": "Python", "slug": "python"})
destination = hookyard.create_destination({"name": "Python", "url": os.environ["RECEIVER"]})
hookyard.create_route({"name": "Python", "sourceId": source["id"], "destinationIds": [destination["id"]]})
urllib.request.urlopen(source["webhookUrl"], data=b"{}")`;

const STORY_IN_GO = `package main

import (
	"context"
	"net/http"
	"os"
	"strings"

	hookyard "github.com/hookyard/hookyard-go"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	client := must(hookyard.New(os.Getenv("API"), os.Getenv("KEY")))
	source := must(client.CreateSource(ctx, hookyard.CreateSourceRequest{Name: "Go", Slug: "go"}))
	destination := must(client.CreateDestination(ctx, hookyard.CreateDestinationRequest{Name: "Go", URL: hookyard.Ptr(os.Getenv("RECEIVER"))}))
	must(client.CreateRoute(ctx, hookyard.CreateRouteRequest{Name: "Go", SourceID: source.ID, DestinationIDs: []string{destination.ID}}))
	must(http.Post(source.WebhookURL, "application/json", strings.NewReader("{}")))
}
`;
