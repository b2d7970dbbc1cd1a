// Which processes belong to a data folder. A pid alone proves nothing (it may have been given to another program since), so a
// process counts as ours only when its command line names the data folder.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from './errors.ts';
import { waitFor } from './wait.ts';

const pidFolder = (dataDir: string) => join(dataDir, 'run');
const pidFile = (dataDir: string, name: string) => join(pidFolder(dataDir), `${name}.pid`);

/** Remembers that `pid` is the child `name` of this data folder. */
export function recordPid(dataDir: string, name: string, pid: number): void {
  mkdirSync(pidFolder(dataDir), { recursive: true });
  writeFileSync(pidFile(dataDir, name), `${pid}\n`);
}

/** Removes the record, unless a newer process of the same name has replaced it. */
export function forgetPid(dataDir: string, name: string, pid: number): void {
  if (readPid(pidFile(dataDir, name)) === pid) rmSync(pidFile(dataDir, name), { force: true });
}

/** The number on the first line of a pid file, or `undefined` when there is none. */
export function readPid(file: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    return pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** The command line of a running process, or `undefined` when there is no such process (or it is a zombie). */
export function commandLine(pid: number): string | undefined {
  try {
    return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
  } catch {
    return undefined;
  }
}

// Small images have no ps, and outside of UTF-8 locales ps prints ? for what is not ASCII (proc_pid_stat(5), proc_pid_cmdline(5)).
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
 * Ends what an earlier run on this data folder left running.
 * @param order child names in the order they are to be ended; others with a record come first
 * @param graceMs how long each may take after SIGTERM (PostgreSQL: SIGINT, its fast shutdown) before SIGKILL
 */
export async function stopLeftovers(dataDir: string, order: string[], graceMs: number, log: Log): Promise<void> {
  const recorded = readdirSync(pidFolder(dataDir), { withFileTypes: true })
    .filter((entry) => entry.name.endsWith('.pid'))
    .map((entry) => entry.name.slice(0, -'.pid'.length));
  const names = recorded.sort((a, b) => order.indexOf(a) - order.indexOf(b));
  for (const name of names) {
    const pid = readPid(pidFile(dataDir, name));
    if (pid !== undefined) await stopLeftover(dataDir, name, pid, graceMs, log);
    rmSync(pidFile(dataDir, name), { force: true });
  }
}

/** Ends one left-over process if it is alive and its command line names the data folder. */
export async function stopLeftover(dataDir: string, name: string, pid: number, graceMs: number, log: Log) {
  if (!belongs(pid, dataDir)) return;
  log(`ending ${name} (pid ${pid}), left over from an earlier run`);
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
