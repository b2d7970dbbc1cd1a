// The three npm packages, each assembled in a folder of its own: @hookyard/client, hookyard (the command line),
// hookyard-server.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';

export const project = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(project, path), 'utf8');
const root = JSON.parse(read('package.json'));
export const version: string = root.version;
const toolOf = (name: string) => join(project, 'node_modules', name, 'bin', name === 'typescript' ? 'tsc' : name);

/** For programs in browsers and elsewhere: no dependencies. */
export function buildClient(folder: string): void {
  run(process.execPath, [toolOf('typescript'), '-p', join(project, 'client'), '--outDir', join(folder, 'dist')]);
  writePackage(folder, {
    name: '@hookyard/client',
    description: 'Client for Hookyard, a webhook router; also verifies the webhooks that Hookyard delivers.',
    engines: { node: '>=20' },
    sideEffects: false,
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' }, './package.json': './package.json' },
    usage: `npm install @hookyard/client

import { createClient } from '@hookyard/client';
const hookyard = createClient({ url: 'http://localhost:3000', apiKey: process.env.HOOKYARD_API_KEY });
const source = await hookyard.createSource({ body: { name: 'Orders', slug: 'orders' } });`,
  });
}

/** What commands need that work on the database: it is in hookyard-server (cli/errors.ts says so). */
const OF_SERVER = ['./db/*', './local/postgres/*', './local/temporal/*'];
const START_CLI = `#!/usr/bin/env node
// Plain syntax, so that an older Node gets this far.
import module from 'node:module';
if (Number(process.versions.node.split('.')[0]) < 22) {
  console.error('The Hookyard command line needs Node 22 or newer, but this is ' + process.version + '; install it from https://nodejs.org');
  process.exit(2);
}
module.enableCompileCache();
await import('./main.js');
`;

/** The command line as a few files that hold all they import. */
export function buildCli(folder: string): void {
  run(process.execPath, [
    toolOf('esbuild'),
    join(project, 'cli', 'main.ts'),
    ...['--bundle', '--splitting', '--format=esm', '--platform=node', '--target=node22', '--log-level=warning'],
    ...['--minify-whitespace', '--line-limit=160'],
    ...OF_SERVER.map((path) => `--external:${path}`),
    `--outdir=${join(folder, 'cli')}`,
  ]);
  copyFileSync(join(project, 'cli', 'operations.json'), join(folder, 'cli', 'operations.json'));
  writeFileSync(join(folder, 'cli', 'hookyard.js'), START_CLI, { mode: 0o755 });
  writePackage(folder, {
    name: 'hookyard',
    description: 'Command-line interface of Hookyard, a webhook router.',
    engines: { node: '>=22.12' },
    bin: { hookyard: 'cli/hookyard.js' },
    usage: `npx hookyard start                        # run all of Hookyard on this machine
npx hookyard listen 4000 --source orders  # receive webhooks here, in a second terminal
npx hookyard send --source orders         # in a third terminal: send a sample webhook`,
  });
}

/** The same as in the image (Dockerfile). */
const FOLDERS = [
  ...['core', 'providers', 'db', 'activities', 'outbound', 'workflows', 'temporal-config', 'telemetry', 'local'],
  ...['worker', 'api', 'client', 'cli'],
];
/** A path of a source file, in an import or elsewhere. */
const SOURCE_PATH = /(["'`])((?:[^"'`\s]*\/)?[\w.-]+)\.ts\1/g;

/**
 * The whole service, compiled, because Node runs no TypeScript below node_modules. Each file keeps its lines and its
 * place; types are taken out as Node does it at every start of a checkout.
 */
export function buildServer(folder: string): void {
  const write = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  for (const path of FOLDERS.flatMap(filesBelow)) {
    if (path.endsWith('.ts'))
      write(path.replace(/\.ts$/, '.js'), stripTypeScriptTypes(read(path)).replaceAll(SOURCE_PATH, '$1$2.js$1'));
    else write(path, readFileSync(join(project, path)));
  }
  const { description, engines, dependencies, allowScripts } = root;
  const bin = { 'hookyard-server': 'local/hookyard-server.js' };
  const usage = `npx hookyard-server                       # PostgreSQL, Temporal, API, worker and console on this machine
npx hookyard listen 4000 --source orders  # in a second terminal`;
  writePackage(folder, { name: 'hookyard-server', description, engines, bin, dependencies, allowScripts, usage });
  run(process.execPath, [join(folder, 'worker', 'temporal', 'workflow-bundle.js'), join(folder, 'workflow-bundle.js')]);
  run(process.execPath, [join(project, 'api', 'console', 'build.ts'), join(folder, 'console', 'built')]);
}

const filesBelow = (folder: string): string[] =>
  readdirSync(join(project, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('client/dist'))
    .map(({ parentPath, name }) => join(parentPath, name).slice(project.length + 1));

function writePackage(
  folder: string,
  { usage, ...manifest }: { name: string; usage: string; [member: string]: unknown },
) {
  // npm compares it with where the package was built (provenance).
  const repository = { type: 'git', url: 'git+https://github.com/hookyard/hookyard.git' };
  const common = { version, license: root.license, repository, type: 'module' };
  const { name, description, ...others } = manifest;
  writeFileSync(
    join(folder, 'package.json'),
    `${JSON.stringify({ name, description, ...common, ...others }, null, 2)}\n`,
  );
  writeFileSync(join(folder, 'README.md'), `# ${name}\n\n${description}\n\n\`\`\`\n${usage}\n\`\`\`\n`);
  copyFileSync(join(project, 'LICENSE'), join(folder, 'LICENSE'));
}

/** @throws Error when it fails */
export function run(command: string, args: string[], cwd = project): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${error ?? status}`);
}
