// One stack per data folder: a lock file with the pid and command line of the process that runs it.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, StartupError } from './errors.ts';
import { commandLine } from './leftovers.ts';

interface Holder {
  pid: number;
  args: string;
}

/**
 * Takes the lock; one that a killed process left is taken over.
 * @returns a function that gives it back
 * @throws StartupError when another process runs this data folder
 */
export async function lockDataDir(dataDir: string): Promise<() => void> {
  const file = lockFile(dataDir);
  const own = JSON.stringify({ pid: process.pid, args: commandLine(process.pid) ?? '' } satisfies Holder);
  for (let tries = 0; tries < 20; tries++) {
    try {
      writeFileSync(file, own, { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    removeStale(file, dataDir);
  }
  throw new StartupError(`The lock ${file} cannot be taken; remove it if no other Hookyard runs on this data folder.`);
}

function removeStale(file: string, dataDir: string): void {
  const seen = read(file);
  if (seen === undefined) return; // given back in between
  const holder = parse(seen);
  if (holder && holder.pid !== process.pid && runs(holder)) {
    throw new StartupError(
      `Hookyard already runs on ${dataDir} (pid ${holder.pid}); stop it first, or set HOOKYARD_DATA_DIR to another folder.`,
    );
  }
  // Renaming is atomic: of two processes that found the same stale lock one gets it. What it got may be a lock that a third
  // one has taken since; that one is put back.
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  try {
    if (read(aside) !== seen) linkSync(aside, file);
  } finally {
    rmSync(aside, { force: true });
  }
}

/** True when a process runs this data folder now. */
export function isLocked(dataDir: string): boolean {
  const holder = parse(read(lockFile(dataDir)) ?? '');
  return holder !== undefined && runs(holder);
}

const lockFile = (dataDir: string) => join(dataDir, 'run', 'supervisor.lock');

/** A pid alone proves nothing: another program may have it by now. */
function runs({ pid, args }: Holder): boolean {
  return commandLine(pid) === args;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** `undefined` for a lock that was not written to its end (a kill in the middle of it). */
function parse(text: string): Holder | undefined {
  try {
    const { pid, args }: Holder = JSON.parse(text);
    return { pid, args };
  } catch {
    return undefined;
  }
}
