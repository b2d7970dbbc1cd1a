// Child processes of the bench that say over IPC when they are ready.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const READY_DEADLINE_MS = 60_000;

export interface RunningChild {
  child: ChildProcess;
  pid: number;
  /** What the process said when it was ready. */
  ready: { type: 'ready'; url?: string };
  /** What it says next. @throws when it ends before, or says nothing within `deadlineMs` */
  next<T>(deadlineMs: number): Promise<T>;
  /** Stops it where it is, until it is resumed. */
  suspend(): void;
  resume(): void;
  /** SIGTERM, then its exit. */
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();

/**
 * Kills what was started and has not ended: a bench that is over needs nothing of it, and a suspended process would not
 * notice.
 */
export function killProcesses(): void {
  for (const child of running) child.kill('SIGKILL');
}
process.on('exit', killProcesses);

/** The folder of this project. */
export const PROJECT = join(import.meta.dirname, '..', '..');

/**
 * Starts a TypeScript file of this project and waits until it is ready. Its warnings and errors are shown.
 * @param folder another checkout, with its packages installed
 */
export async function startProcess(
  file: string,
  env: Record<string, string>,
  folder: string = PROJECT,
): Promise<RunningChild> {
  const child = spawn(process.execPath, [join(folder, file)], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  running.add(child);
  const exited = once(child, 'exit').finally(() => running.delete(child));
  const next = <T>(deadlineMs: number) => nextMessage<T>(child, exited, file, deadlineMs);
  return {
    child,
    pid: child.pid ?? 0,
    ready: await next(READY_DEADLINE_MS),
    next,
    suspend: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    async stop() {
      child.kill('SIGCONT');
      if (child.exitCode === null) child.kill('SIGTERM');
      await exited;
    },
  };
}

async function nextMessage<T>(
  child: ChildProcess,
  exited: Promise<unknown>,
  file: string,
  deadlineMs: number,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${file} sent nothing within ${deadlineMs} ms`)), deadlineMs);
  });
  const ended = exited.then(() => Promise.reject(new Error(`${file} ended unexpectedly`)));
  try {
    const [message] = await Promise.race([once(child, 'message'), ended, timeout]);
    return message as T;
  } finally {
    clearTimeout(timer);
  }
}
