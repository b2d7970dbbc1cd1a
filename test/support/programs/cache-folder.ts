// Programs that tests need and npm does not bring are installed once, in the cache folder that also holds Temporal.
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fillOnce as fillFolder, cacheFolder as folderOfPrograms } from '../../../core/config/folders.ts';
import { phase } from '../../../local/errors.ts';

export const cacheFolder = folderOfPrograms();

/**
 * Fills a folder of the cache unless it is there; it appears only when it is complete.
 * @param what was done, for the log: `built versitygw`
 */
export async function fillOnce(
  folder: string,
  what: string,
  log: (line: string) => void,
  fill: (unfinished: string) => Promise<void>,
): Promise<void> {
  await fillFolder(folder, (unfinished) => phase(log, what, () => fill(unfinished)));
}

const OLD_MS = 3 * 24 * 60 * 60 * 1000;

/**
 * Removes what was filled days ago for other versions of what changes often.
 * @param prefix of the names of their folders
 */
export function forgetOthers(prefix: string, folder: string): void {
  for (const name of readdirSync(cacheFolder)) {
    const other = join(cacheFolder, name);
    if (name.startsWith(prefix) && other !== folder && Date.now() - statSync(other).mtimeMs > OLD_MS)
      rmSync(other, { recursive: true, force: true });
  }
}
