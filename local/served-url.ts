// Where the service of a data folder listens: `npm start` keeps it in that folder, the command line reads it.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isLocked } from './lock.ts';

const urlFile = (dataDir: string) => join(dataDir, 'run', 'url');

/** @param url where the API listens; for one that listens on all addresses, loopback is kept */
export function recordUrl(dataDir: string, url: string): void {
  const reached = url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  writeFileSync(urlFile(dataDir), `${reached}\n`);
}

export function forgetUrl(dataDir: string): void {
  rmSync(urlFile(dataDir), { force: true });
}

/** Where it listens, or `undefined` when none runs: a killed service leaves its file behind. */
export function servedUrl(dataDir: string): string | undefined {
  if (!isLocked(dataDir)) return undefined;
  try {
    return readFileSync(urlFile(dataDir), 'utf8').trim();
  } catch {
    return undefined; // it is just starting or ending
  }
}
