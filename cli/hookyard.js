#!/usr/bin/env node
// npx hookyard: runs cli/main.ts with Node 24, in an installed package as it was compiled. Plain JavaScript, because
// the machine's own Node may be older (>= 20); then the Node of the npm package `node` takes over. Looks at nothing
// else, so that every command starts at once.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installedNode } from '../local/installed-node.js';

const self = fileURLToPath(import.meta.url);
const project = dirname(dirname(self));
const source = join(project, 'cli', 'main.ts');
const isCheckout = existsSync(source);
const main = isCheckout ? source : join(project, 'cli', 'main.js');
// Those of the command itself are in docs/guide/cli.md.
const CANNOT_START = 2;

if (
  isCheckout &&
  !['node_modules/commander', 'client/api.ts', 'cli/operations.json'].every((path) => existsSync(join(project, path)))
)
  fail(`The installation is not complete: run npm ci in ${project}`);
else if (process.versions.node.startsWith('24.')) await start();
else if (existsSync(installedNode(project))) runWith(installedNode(project));
else if (isCheckout)
  fail(`Hookyard needs Node 24, but this is ${process.version}: run npm ci in ${project} to install Node 24`);
else fail(`Hookyard needs Node 24, but this is ${process.version}: install Node 24 from https://nodejs.org`);

/**
 * With the code as Node kept it after the first time, types taken out and compiled: halves the time to the first line.
 */
async function start() {
  module.enableCompileCache(isCheckout ? join(project, 'node_modules', '.cache', 'hookyard') : undefined);
  await import(main);
}

function runWith(node) {
  const child = spawn(node, [self, ...process.argv.slice(2)], { stdio: 'inherit' });
  // A Ctrl-C reaches both of us; what is sent to this process alone is passed on, and the command decides when it ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('error', (error) => fail(`${node} cannot be run: ${error.message}`));
  child.once('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
}

function fail(line) {
  console.error(line);
  process.exitCode = CANNOT_START;
}
