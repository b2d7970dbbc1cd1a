// The first steps, printed when everything runs: the addresses, and three commands for a first webhook (README.md has the same).
import { join } from 'node:path';
import { dataFolder as dataFolderOf, isPackage } from '../core/config/data-folder.ts';
import type { PreparedDatabase } from '../db/migrate/prepare.ts';

export interface Running {
  apiUrl: string;
  /** With a one-time code that signs in; null: there is no console. */
  consoleUrl: string | null;
  temporalUiUrl: string | null;
  createdKey: PreparedDatabase['createdKey'];
  /** The file that keeps the first API key; null when the key came from HOOKYARD_API_KEY. */
  keyFile: string | null;
  /** An absolute path. */
  dataDir: string;
}

const project = join(import.meta.dirname, '..');

/** The lines to print. The commands run in the project's folder, those of an installed package anywhere, in any POSIX shell. */
export function firstSteps(running: Running): string[] {
  const hookyard = `${dataFolder(running)}${isPackage ? '' : 'npx '}hookyard`;
  return [
    '',
    `  API          ${running.apiUrl}`,
    ...(running.consoleUrl === null
      ? []
      : [`  Console      ${running.consoleUrl}`, '               (signs in once, within ten minutes)']),
    `  Temporal UI  ${running.temporalUiUrl ?? 'that of your own Temporal server'}`,
    ...keyLines(running),
    '',
    `Your first webhook. Receive webhooks in a second terminal${isPackage ? '' : ', in this folder'}:`,
    `${hookyard} listen 4000 --source orders`,
    '',
    'Send one in a third terminal, and see what became of it:',
    `${hookyard} send --source orders`,
    `${hookyard} deliveries list`,
    '',
    'README.md, "Your first webhook", shows how to deliver to your own service.',
    '',
  ];
}

function keyLines({ createdKey, keyFile }: Running): string[] {
  if (keyFile === null) return ['  API key      the one in HOOKYARD_API_KEY; set it in the other terminals too'];
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
