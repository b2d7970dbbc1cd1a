// Where `npm start` and hookyard-server keep their data, and where the command line looks for it.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** Whether this is an installed package, whose code is compiled (release/npm-packages.ts), and not a checkout. */
export const isPackage = /\.js$/.test(import.meta.filename);

/**
 * @param named HOOKYARD_DATA_DIR; without it data is beside the code of a checkout, and an installed package keeps it
 * for its user
 */
export function dataFolder(project: string, named: string | undefined): string {
  if (!isPackage) return resolve(project, named || 'data');
  return named ? resolve(named) : userDataFolder(process.platform, process.env, homedir());
}

/**
 * By the customs of the system: https://specifications.freedesktop.org/basedir, Apple's File System Programming Guide,
 * KNOWNFOLDERID.
 */
export function userDataFolder(
  platform: NodeJS.Platform,
  { XDG_DATA_HOME, LOCALAPPDATA }: Record<string, string | undefined>,
  home: string,
): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Hookyard');
  if (platform === 'win32') return join(LOCALAPPDATA || join(home, 'AppData', 'Local'), 'Hookyard');
  return join(XDG_DATA_HOME || join(home, '.local', 'share'), 'hookyard');
}

/** Where programs are kept that are obtained once per machine: `${XDG_CACHE_HOME:-~/.cache}/hookyard`. */
export function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'hookyard');
}

/** Fills a folder that appears under its name only when it is complete; several processes may do so at once. */
export async function fillOnce(
  folder: string,
  fill: (unfinished: string) => unknown,
  isComplete = () => existsSync(folder),
): Promise<void> {
  if (isComplete()) return;
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = mkdtempSync(`${folder}.unfinished-`);
  try {
    await fill(unfinished);
    if (!isComplete()) rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
  } catch (error) {
    if (!isComplete()) throw error; // else another process was quicker
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
