// Which processes run a data folder: one stack, by a lock file with its pid and command line; its children, by a record
// each; and where its API listens. A pid alone proves nothing (it may have been given to another program since), so a
// process counts as ours only when its command line names the data folder.
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, type Log, StartupError } from './errors.ts';
import { waitFor } from './ports.ts';

interface Holder {
  pid: number;
  args: string;
}

/** A lock that a killed process left is taken over. @returns a function that gives it back @throws StartupError */
export async function lockDataDir(dataDir: string): Promise<() => void> {
  const file = runFile(dataDir, LOCK);
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
  throw new StartupError(
    `The lock ${file} cannot be acquired; delete it if no other Hookyard process is using this data folder`,
  );
}

function removeStale(file: string, dataDir: string): void {
  const seen = read(file);
  if (seen === undefined) return; // given back in between
  const holder = parse(seen);
  if (holder && holder.pid !== process.pid && runs(holder))
    throw new StartupError(
      `Another Hookyard process (pid ${holder.pid}) is already using ${dataDir}; stop it first, or set HOOKYARD_DATA_DIR to another folder`,
    );
  // Renaming is atomic: of two processes that found the same stale lock one gets it. What it got may be a lock that a
  // third one has taken since; that one is put back.
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

const LOCK = 'supervisor.lock';
const runFile = (dataDir: string, name: string) => join(dataDir, 'run', name);

const runs = ({ pid, args }: Holder): boolean => commandLine(pid) === args;

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
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const pidFile = (dataDir: string, name: string) => runFile(dataDir, `${name}.pid`);

export function recordPid(dataDir: string, name: string, pid: number): void {
  mkdirSync(join(dataDir, 'run'), { recursive: true });
  writeFileSync(pidFile(dataDir, name), `${pid}\n`);
}

/** Removes the record, unless a newer process of the same name has replaced it. */
export function forgetPid(dataDir: string, name: string, pid: number): void {
  if (readPid(pidFile(dataDir, name)) === pid) rmSync(pidFile(dataDir, name), { force: true });
}

/** The number on the first line of a pid file, or `undefined` when there is none. */
export function readPid(file: string): number | undefined {
  const pid = Number.parseInt(read(file) ?? '', 10);
  return pid > 1 ? pid : undefined;
}

/** The command line of a running process, or `undefined` when there is no such process (or it is a zombie). */
export function commandLine(pid: number): string | undefined {
  try {
    return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
  } catch {
    return undefined;
  }
}

// Small images have no ps, and outside of UTF-8 locales ps prints ? for what is not ASCII (proc_pid_stat(5),
// proc_pid_cmdline(5)).
function fromProc(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [state] = stat.slice(stat.lastIndexOf(')') + 2);
  if (state === 'Z' || state === 'X') return undefined;
  // Empty when its memory is gone already: it is about to be a zombie.
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0+$/, '').replaceAll('\0', ' ') || undefined;
}

function fromPs(pid: number): string | undefined {
  const line = execFileSync('ps', ['-p', String(pid), '-ww', '-o', 'stat=,args='], { encoding: 'utf8' });
  const [, state = '', args = ''] = /^\s*(\S+)\s+(.*)$/s.exec(line.trimEnd()) ?? [];
  return state === '' || state.startsWith('Z') ? undefined : args;
}

/**
 * @param order child names in the order they are to be ended; others with a record come first
 * @param graceMs how long each may take after SIGTERM (PostgreSQL: SIGINT, its fast shutdown) before SIGKILL
 */
export async function stopLeftovers(dataDir: string, order: string[], graceMs: number, log: Log): Promise<void> {
  const names = readdirSync(join(dataDir, 'run'))
    .filter((file) => file.endsWith('.pid'))
    .map((file) => file.slice(0, -'.pid'.length))
    .sort((a, b) => order.indexOf(a) - order.indexOf(b));
  for (const name of names) {
    const pid = readPid(pidFile(dataDir, name));
    if (pid !== undefined) await stopLeftover(dataDir, name, pid, graceMs, log);
    rmSync(pidFile(dataDir, name), { force: true });
  }
}

export async function stopLeftover(dataDir: string, name: string, pid: number, graceMs: number, log: Log) {
  if (!belongs(pid, dataDir)) return;
  log(`stopping ${name} (pid ${pid}), left over from an earlier run`);
  send(pid, name === 'postgres' ? 'SIGINT' : 'SIGTERM');
  const gone = async () => (belongs(pid, dataDir) ? undefined : true);
  if (await waitFor(gone, graceMs)) return;
  send(pid, name === 'postgres' ? 'SIGQUIT' : 'SIGKILL');
  await waitFor(gone, 5_000);
}

function belongs(pid: number, dataDir: string): boolean {
  const args = commandLine(pid);
  return args !== undefined && (args.includes(`${dataDir}/`) || args.includes(`${dataDir} `) || args.endsWith(dataDir));
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it ended in between
  }
}

const urlFile = (dataDir: string) => runFile(dataDir, 'url');

/** @param url where the API listens; for one that listens on all addresses, loopback is kept */
export function recordUrl(dataDir: string, url: string): void {
  const reached = url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  writeFileSync(urlFile(dataDir), `${reached}\n`);
}

export const forgetUrl = (dataDir: string): void => rmSync(urlFile(dataDir), { force: true });

/** Where it listens, or `undefined` when none runs: a killed service leaves its file behind. */
export function servedUrl(dataDir: string): string | undefined {
  const holder = parse(read(runFile(dataDir, LOCK)) ?? '');
  // One that is locked and has no file is just starting or ending.
  return holder && runs(holder) ? read(urlFile(dataDir))?.trim() : undefined;
}
