// node local/bootstrap.js <file.ts> [arguments]: what every npm script starts with. Plain JavaScript, because it also
// runs on the machine's own Node (>= 20) before anything is installed: installs the dependencies when they are missing
// or out of date, then runs the TypeScript file with Node 24, which comes as the npm package `node` when the machine's
// Node is another. In an installed package, for which npm has done the first step, it runs the same file as it was
// compiled (release/npm-packages.ts).
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installedNode } from './installed-node.js';

const project = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const lockFile = join(project, 'package-lock.json');
const marker = join(project, 'node_modules', '.hookyard-installed');
const npmsOwnRecord = join(project, 'node_modules', '.package-lock.json');
const generators = join(project, 'sdk', 'generate');
// npm puts no lock file into a package.
const isPackage = !existsSync(lockFile);
const ownMajor = Number(process.versions.node.split('.')[0]);
// One Ctrl-C arrives several times: from the terminal, which signals the whole process group, and from npm, which
// passes it on.
const samePressMs = 1000;

function main() {
  const [file, ...args] = process.argv.slice(2);
  if (ownMajor < 20)
    return fail(`Hookyard needs Node 20 or newer to start, but this is ${process.version}: https://nodejs.org`);
  if (!file) return fail('Usage: node local/bootstrap.js <file.ts> [arguments]');
  if (isPackage || isInstalled()) return start(file, args);
  install(() => start(file, args));
}

function isInstalled() {
  const wanted = lockHash();
  if (existsSync(marker)) return readFileSync(marker, 'utf8') === wanted;
  // Installed by hand with `npm ci` or `npm install` after the last change of the lock file.
  if (!existsSync(npmsOwnRecord)) return false;
  return existsSync(installedNode(project)) && statSync(npmsOwnRecord).mtimeMs >= statSync(lockFile).mtimeMs;
}

/** Whether docs/openapi.json, or what makes clients from it, has changed since that was done. */
function isClientStale() {
  // What is not there is no newer.
  const changed = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  // What is written last.
  const made = changed(join(project, 'cli', 'operations.json'));
  const inputs = [
    join(project, 'docs', 'openapi.json'),
    ...readdirSync(generators).map((name) => join(generators, name)),
  ];
  return !existsSync(join(project, 'client', 'api.ts')) || inputs.some((file) => changed(file) > made);
}

function lockHash() {
  const system = `${process.platform}-${process.arch}`;
  return createHash('sha256').update(readFileSync(lockFile)).update(system).digest('hex');
}

function install(then) {
  const began = Date.now();
  const elapsed = () => `${Math.round((Date.now() - began) / 1000)} s`;
  console.log('installing the dependencies with npm ci (once; later starts skip this)');
  // The lock file has exact versions and hashes: npm need not ask whether what it has in its cache is the newest.
  const args = [
    'ci',
    '--prefer-offline',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  const path = process.env.npm_execpath;
  const [npm, ...first] = path?.endsWith('.js') ? [process.execPath, path] : ['npm'];
  const child = spawn(npm, [...first, ...args], { cwd: project, stdio: ['ignore', 'inherit', 'inherit'] });
  const progress = setInterval(() => console.log(`still installing: ${elapsed()}, npm is fetching packages`), 10_000);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('error', (error) => fail(`npm cannot be run (${error.message}); install npm and try again`));
  child.once('exit', (code, signal) => {
    clearInterval(progress);
    process.removeAllListeners('SIGINT').removeAllListeners('SIGTERM').removeAllListeners('SIGHUP');
    if (signal) process.exit(128 + constants.signals[signal]);
    if (code !== 0) return fail('npm ci failed (see above). Is the npm registry reachable? Is the disk full?');
    writeFileSync(marker, lockHash());
    console.log(`dependencies are installed (${elapsed()})`);
    then();
  });
}

/** Node 24: this one, or the one from npm. */
function findNode() {
  if (ownMajor === 24) return process.execPath;
  const node = installedNode(project);
  const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return status === 0 && stdout.startsWith('v24.') ? node : undefined;
}

function start(file, args) {
  const node = findNode();
  if (!node) {
    return fail(
      isPackage
        ? 'Node 24 is not installed, because the install script of the npm package node did not run; install Node 24: https://nodejs.org'
        : `Node 24 is not in ${dirname(installedNode(project))}; delete node_modules and start again, or install Node 24 yourself`,
    );
  }
  if (!isPackage && isClientStale()) spawnSync(node, [join(generators, 'write.ts')], { stdio: 'inherit' });
  // Its own process group: signals reach it through us alone, one for each Ctrl-C. The IPC channel tells it when we are
  // gone.
  const script = join(project, isPackage ? file.replace(/\.ts$/, '.js') : file);
  const child = spawn(node, [script, ...args], {
    // Paths in settings of an installed package are those of anyone who starts it.
    cwd: isPackage ? process.cwd() : project,
    detached: true,
    env: { ...process.env, ...threadSettings(process.env) },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  let last = Number.NEGATIVE_INFINITY;
  const pass = (signal) => {
    const now = performance.now();
    if (now - last > samePressMs) child.kill(signal);
    last = now;
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, pass);
  whenNpmIsGone(() => pass('SIGTERM'));
  child.once('error', (error) => fail(`${node} cannot be run: ${error.message}`));
  child.once('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
}

/**
 * The threads of Node, of this process and of all that it starts. Half of the first may look up names
 * (outbound/http/guarded-connect.ts). V8 would have four helpers, which collect the garbage of a large webhook on all
 * cores while others wait.
 */
function threadSettings({ UV_THREADPOOL_SIZE = '16', NODE_OPTIONS = '' }) {
  return { UV_THREADPOOL_SIZE, NODE_OPTIONS: `--v8-pool-size=1 ${NODE_OPTIONS}`.trim() };
}

/** A killed npm tells nobody; without this, its Hookyard would continue unseen. */
function whenNpmIsGone(then) {
  const npm = process.ppid;
  if (!process.env.npm_lifecycle_event) return;
  const watch = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(watch);
    then();
  }, 1000);
}

function fail(line) {
  console.error(line);
  process.exit(1);
}

main();
