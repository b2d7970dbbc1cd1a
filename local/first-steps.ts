// What `npm start` prints when everything runs: the addresses, a link to the console that signs in once, and three
// commands for a first webhook (README.md has the same). The console is built beside the servers.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { dataFolder as dataFolderOf, isPackage } from '../core/config/folders.ts';
import type { PreparedDatabase } from '../db/schema/prepare.ts';
import { type Log, oneLine } from './errors.ts';

export interface Running {
  apiUrl: string;
  /** With a one-time code that signs in; null: there is no console. */
  consoleUrl: string | null;
  temporalUiUrl: string | null;
  createdKey: PreparedDatabase['createdKey'];
  /** The file that keeps the first API key; null when the key came from HOOKYARD_API_KEY. */
  keyFile: string | null;
  dataDir: string;
}

const project = join(import.meta.dirname, '..');

export function firstSteps(running: Running): string[] {
  const hookyard = isContainer()
    ? 'docker exec -it <container> node cli/hookyard.js'
    : `${dataFolder(running)}npx hookyard`;
  return [
    '',
    `  API          ${running.apiUrl}`,
    ...(running.consoleUrl === null
      ? []
      : [
          `  Console      ${running.consoleUrl}`,
          '               (signs you in; works once and expires in ten minutes)',
        ]),
    `  Temporal UI  ${running.temporalUiUrl ?? 'the UI of your own Temporal server'}`,
    ...keyLines(running),
    '',
    `Your first webhook. Receive webhooks in a second terminal${isPackage || isContainer() ? '' : ', in this folder'}:`,
    `${hookyard} listen 4000 --source orders`,
    '',
    'Send a webhook in a third terminal, and check its delivery:',
    `${hookyard} send --source orders`,
    `${hookyard} deliveries list`,
    '',
    'Deliver to your own service: https://github.com/hookyard/hookyard#your-first-webhook',
    '',
  ];
}

/** Whether this is the image hookyard-all-in-one (Dockerfile). */
const isContainer = () => process.argv.includes('--container');

function keyLines({ createdKey, keyFile }: Running): string[] {
  if (keyFile === null) return ['  API key      the value of HOOKYARD_API_KEY; also set it in the other terminals'];
  if (createdKey === null) return [`  API key      in ${keyFile}`];
  return [
    `  API key      ${createdKey.token}`,
    `               (shown once; kept in ${keyFile}, which only you can read)`,
  ];
}

/** The command line looks for address and key in the usual data folder unless another one is given. */
function dataFolder({ dataDir }: Running): string {
  return dataDir === dataFolderOf(project, '') ? '' : `HOOKYARD_DATA_DIR=${shellQuote(dataDir)} `;
}

function shellQuote(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Builds the console in a process of its own; nothing waits for it, and nothing fails with it. */
export function buildConsole(signal: AbortSignal, log: Log): { stop: () => void } {
  const failed = (why: string) =>
    log(`the console could not be built (${why}); nothing else is affected. To try again: npm run console:build`);
  const child = spawn(process.execPath, [join(project, 'api', 'console', 'build.ts')], {
    cwd: project,
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  });
  process.once('exit', () => child.kill());
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-2000);
  });
  child.once('error', (error) => {
    if (!signal.aborted) failed(oneLine(error));
  });
  child.once('exit', (code, ended) => {
    if (code !== 0 && !signal.aborted) failed(said.trim().split('\n').slice(-3).join(' ') || `${code ?? ended}`);
  });
  return { stop: () => void child.kill() };
}
