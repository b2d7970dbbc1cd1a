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
  /** SIGTERM, then its exit. */
  stop(): Promise<void>;
}

/** Starts a TypeScript file of this project and waits until it is ready. Its warnings and errors are shown. */
export async function startProcess(file: string, env: Record<string, string>): Promise<RunningChild> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', '..', file)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const ready = await firstMessage(child, exited, file);
  return {
    child,
    pid: child.pid ?? 0,
    ready,
    async stop() {
      if (child.exitCode === null) child.kill('SIGTERM');
      await exited;
    },
  };
}

async function firstMessage(
  child: ChildProcess,
  exited: Promise<unknown>,
  file: string,
): Promise<RunningChild['ready']> {
  const timeout = new Promise<never>((_resolve, reject) => {
    setTimeout(
      () => reject(new Error(`${file} was not ready within ${READY_DEADLINE_MS} ms`)),
      READY_DEADLINE_MS,
    ).unref();
  });
  const ended = exited.then(() => Promise.reject(new Error(`${file} ended before it was ready`)));
  const [message] = await Promise.race([once(child, 'message'), ended, timeout]);
  return message as RunningChild['ready'];
}
