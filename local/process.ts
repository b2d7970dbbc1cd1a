// One child process of the stack: started in its own session (so that a terminal's Ctrl-C reaches only the supervisor, which
// ends the children in order), its output in a log file, its pid recorded so that the next start finds what a kill -9 left.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Log, oneLine, seconds, StartupError } from './errors.ts';
import { forgetPid, recordPid } from './lock.ts';
import { settlesWithin } from './wait.ts';

const logFileLimitBytes = 16 * 1024 * 1024;

export interface ChildOptions {
  /** Short name: of the pid record, and of the log file when there is one. */
  name: string;
  /** The stack's data folder; at least one argument must contain it, so that a left-over process can be recognised. */
  dataDir: string;
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number;
  gid?: number;
  /** `file` (default): standard output and error go to `<dataDir>/logs/<name>.log`; `inherit`: to ours, with an IPC channel. */
  output?: 'file' | 'inherit';
  /** With `file`: an IPC channel all the same. */
  ipc?: boolean;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly process: ChildProcess;
  /** Settles when the process has ended; never rejects. */
  readonly exited: Promise<Exit>;
  readonly running: boolean;
  /** What the process wrote to its log file since it was started (the last 64 KiB of it). */
  output(): string;
  /** Sends `signal`, waits `graceMs` milliseconds, then sends SIGKILL; returns when the process has ended. */
  stop(signal: NodeJS.Signals, graceMs: number): Promise<Exit>;
}

/**
 * Starts a child.
 * @throws StartupError when the command cannot be started
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const logFile = join(options.dataDir, 'logs', `${options.name}.log`);
  const toFile = options.output !== 'inherit';
  const log = toFile ? openLog(logFile) : undefined;
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
    name: options.name,
    pid,
    process: child,
    exited,
    get running() {
      return running;
    },
    output: () => (log ? readTail(logFile, log.offset) : ''),
    async stop(signal, graceMs) {
      if (running) child.kill(signal);
      if (!(await settlesWithin(exited, graceMs))) child.kill('SIGKILL');
      return await exited;
    },
  };
}

function started(child: ChildProcess, options: ChildOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid ?? 0));
    child.once('error', (error) =>
      reject(new StartupError(`${options.name} cannot be started (${options.command}): ${oneLine(error)}`)),
    );
  });
}

function ended(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null)
      resolve({ code: child.exitCode, signal: child.signalCode });
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

/** A server that can be stopped and started again, on the same port with the same data. */
export interface Service {
  /** Process id, `undefined` while it is stopped. */
  readonly pid: number | undefined;
  /** Settles when the process that runs now ends, for whatever reason. */
  readonly exited: Promise<unknown>;
  /** Returns when it serves. @throws StartupError */
  start(): Promise<void>;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** SIGKILL, as a crash would end it. */
  kill(): Promise<void>;
}

/**
 * Starts a service.
 * @param launch starts the process and returns when it serves
 * @param end how it is ended in order
 */
export async function startService(
  launch: () => Promise<Child>,
  end: (child: Child) => Promise<unknown>,
): Promise<Service> {
  let child = await launch();
  return {
    get pid() {
      return child.running ? child.pid : undefined;
    },
    get exited() {
      return child.exited;
    },
    async start() {
      if (!child.running) child = await launch();
    },
    async stop() {
      if (child.running) await end(child);
    },
    async kill() {
      await child.stop('SIGKILL', 5_000);
    },
  };
}

const tries = 3;
const betweenTriesMs = 1_000;
const steadyAfterMs = 60_000;

export interface Server {
  /** Settles when the process that runs now ends. */
  readonly exited: Promise<unknown>;
  start(): Promise<void>;
}

/**
 * Watches a server until `stopping` is aborted.
 * @returns `undefined` when stopping, else why the server cannot be kept up
 */
export async function keepUp(
  name: string,
  server: Server,
  stopping: AbortSignal,
  log: Log,
): Promise<string | undefined> {
  let failures = 0;
  for (;;) {
    const began = performance.now();
    await Promise.race([server.exited, aborted(stopping)]);
    if (stopping.aborted) return undefined;
    if (performance.now() - began > steadyAfterMs) failures = 0;
    failures += 1;
    let reason = 'it ended right after each start';
    if (failures <= tries) {
      log(`${name} ended unexpectedly; starting it again`);
      reason = await startAgain(name, server, log);
      if (reason === '') continue;
    }
    if (failures >= tries) return `${name} cannot be kept running: ${reason}`;
    log(`${name} did not start (${reason}); trying again in ${seconds(betweenTriesMs)}`);
    await delay(betweenTriesMs, undefined, { signal: stopping }).catch(() => {});
  }
}

/** Empty text when it runs again, else why not. */
async function startAgain(name: string, server: Server, log: Log): Promise<string> {
  const began = performance.now();
  try {
    await server.start();
    log(`${name} runs again (${seconds(performance.now() - began)})`);
    return '';
  } catch (error) {
    return oneLine(error);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
