import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

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
