// One child process of the stack: started in its own session (so that a terminal's Ctrl-C reaches only the supervisor,
// which ends the children in order), its output in a log file, its pid recorded so that the next start finds what a
// kill -9 left.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Log, oneLine, seconds, StartupError } from './errors.ts';
import { forgetPid, recordPid } from './lock.ts';
import { settlesWithin, waitFor } from './ports.ts';

const logFileLimitBytes = 16 * 1024 * 1024;

export interface ChildOptions {
  name: string;
  /** The stack's data folder; at least one argument must contain it, so that a left-over process can be recognised. */
  dataDir: string;
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number;
  gid?: number;
  /**
   * `file` (default): standard output and error go to `<dataDir>/logs/<name>.log`; `inherit`: to ours, with an IPC
   * channel.
   */
  output?: 'file' | 'inherit';
  ipc?: boolean;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export type Child = Awaited<ReturnType<typeof startChild>>;

/** @throws StartupError when the command cannot be started */
export async function startChild(options: ChildOptions) {
  const logFile = join(options.dataDir, 'logs', `${options.name}.log`);
  const log = options.output === 'inherit' ? undefined : openLog(logFile);
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    uid: options.uid,
    gid: options.gid,
    detached: true,
    stdio: log
      ? ['ignore', log.descriptor, log.descriptor, ...(options.ipc ? ['ipc' as const] : [])]
      : ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  if (log) closeSync(log.descriptor);
  const pid = await started(child, options);
  recordPid(options.dataDir, options.name, pid);
  let running = true;
  const exited = ended(child).then((exit) => {
    running = false;
    forgetPid(options.dataDir, options.name, pid);
    return exit;
  });
  return {
    pid,
    process: child,
    /** Never rejects. */
    exited,
    get running(): boolean {
      return running;
    },
    /** What the process wrote to its log file since it was started (the last 64 KiB of it). */
    output: () => (log ? readTail(logFile, log.offset) : ''),
    async stop(signal: NodeJS.Signals, graceMs: number): Promise<Exit> {
      if (running) child.kill(signal);
      if (!(await settlesWithin(exited, graceMs))) child.kill('SIGKILL');
      return await exited;
    },
  };
}

async function started(child: ChildProcess, { name, command }: ChildOptions): Promise<number> {
  try {
    await once(child, 'spawn');
    return child.pid ?? 0;
  } catch (error) {
    throw new StartupError(`${name} cannot be started (${command}): ${oneLine(error)}`);
  }
}

function ended(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.on('error', () => {}); // a failed kill or a closed IPC channel: the exit event reports the rest
  });
}

function openLog(file: string): { descriptor: number; offset: number } {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > logFileLimitBytes) renameSync(file, `${file}.1`);
  return { descriptor: openSync(file, 'a', 0o600), offset: size > logFileLimitBytes ? 0 : size };
}

function readTail(file: string, offset: number): string {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const from = Math.max(offset, size - 64 * 1024);
  const buffer = Buffer.alloc(Math.max(0, size - from));
  const descriptor = openSync(file, 'r');
  try {
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, buffer.length, from));
  } finally {
    closeSync(descriptor);
  }
}

/** Whether it serves within the deadline; a process that has ended ends the wait. */
export async function serves(child: Child, ask: () => Promise<boolean>, deadlineMs: number): Promise<boolean> {
  return (await waitFor(async () => (child.running ? (await ask()) || undefined : false), deadlineMs)) ?? false;
}

export type ChildService = Awaited<ReturnType<typeof startService>>;
export type Service = Omit<ChildService, 'child' | 'exited'> & { readonly exited: Promise<unknown> };

/** @param launch returns when it serves @param end ends it in order */
export async function startService(launch: () => Promise<Child>, end: (child: Child) => Promise<unknown>) {
  let child = await launch();
  return {
    get child(): Child {
      return child;
    },
    /** Process id, `undefined` while it is stopped. */
    get pid(): number | undefined {
      return child.running ? child.pid : undefined;
    },
    /** Settles when the process that runs now ends, for whatever reason. */
    get exited(): Promise<Exit> {
      return child.exited;
    },
    /** Returns when it serves. @throws StartupError */
    async start(): Promise<void> {
      if (!child.running) child = await launch();
    },
    async stop(): Promise<void> {
      if (child.running) await end(child);
    },
    /** SIGKILL, as a crash would end it. */
    async kill(): Promise<void> {
      await child.stop('SIGKILL', 5_000);
    },
  };
}

const firstDelayMs = 1_000;
const longestDelayMs = 30_000;
const steadyAfterMs = 60_000;

/**
 * Starts it again whenever it ends: at once, and if it ends soon after that, in 1, 2, 4, ... up to 30 s. A failed
 * start counts as an end.
 * @param most starts in a row that may fail
 * @returns `undefined` when `stopping` was aborted, else why the service cannot be kept up
 */
export async function keepUp(
  name: string,
  service: ChildService,
  stopping: AbortSignal,
  log: Log,
  most = Number.POSITIVE_INFINITY,
): Promise<string | undefined> {
  let failures = 0;
  let reason = '';
  for (;;) {
    if (reason === '') {
      const began = performance.now();
      const exit = await Promise.race([service.exited, aborted(stopping)]);
      reason = exit ? how(exit) : '';
      if (performance.now() - began > steadyAfterMs) failures = 0;
    }
    if (stopping.aborted) return undefined;
    failures += 1;
    if (failures > most) return `${name} keeps exiting: ${reason}`;
    const delayMs = failures === 1 ? 0 : Math.min(firstDelayMs * 2 ** (failures - 2), longestDelayMs);
    const when = delayMs > 0 ? `in ${seconds(delayMs)}` : 'immediately';
    log(`${name} exited unexpectedly (${reason}); restarting it ${when}`);
    if (delayMs > 0) await delay(delayMs, undefined, { signal: stopping }).catch(() => {});
    if (stopping.aborted) return undefined;
    const began = performance.now();
    try {
      await service.start();
      log(`${name} is running again (${seconds(performance.now() - began)})`);
      reason = '';
    } catch (error) {
      reason = oneLine(error);
    }
  }
}

export const how = ({ code, signal }: Exit): string => (signal ? `signal ${signal}` : `exit code ${code}`);

export async function aborted(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await once(signal, 'abort');
}
