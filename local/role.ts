// One role of Hookyard (api, worker) as a child process that is kept running. Contract with the role: it sends
// `{ type: 'ready', url? }` over IPC when it serves; on SIGTERM, or when the channel closes because we are gone, it finishes what it
// is doing and exits 0.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Log, phase, StartupError, seconds } from './errors.ts';
import { type Child, type Exit, startChild } from './process.ts';

const project = join(import.meta.dirname, '..');
const readyDeadlineMs = 60_000;
// A role that ends is started again at once; if it ends soon after that, in 1, 2, 4, ... up to 30 s.
const firstDelayMs = 1_000;
const longestDelayMs = 30_000;
const steadyAfterMs = 60_000;

export interface Role {
  /** Its URL, once reported. */
  readonly url: string | undefined;
  readonly pid: number;
  /** SIGTERM, `graceMs` milliseconds to finish, SIGKILL; it is not started again. @returns false when it had to be killed */
  stop(graceMs: number): Promise<boolean>;
}

export interface RoleOptions {
  name: 'api' | 'worker';
  dataDir: string;
  env: NodeJS.ProcessEnv;
  args?: string[];
  log: Log;
}

/**
 * Starts a role and keeps it running until `stop`.
 * @throws StartupError when it does not become ready the first time
 */
export async function startRole(options: RoleOptions): Promise<Role> {
  const { name, log } = options;
  const stopping = new AbortController();
  let current = await phase(log, `${name} is ready`, () => launchRole(options));
  const kept = keepRunning(options, current.child, stopping.signal, (next) => {
    current = next;
  });
  return {
    get url() {
      return current.url;
    },
    get pid() {
      return current.child.pid;
    },
    async stop(graceMs) {
      stopping.abort();
      const exit = await current.child.stop('SIGTERM', graceMs);
      await kept;
      if (exit.signal === 'SIGKILL') log(`${name} did not finish within ${seconds(graceMs)} and was killed`);
      return exit.signal !== 'SIGKILL';
    },
  };
}

interface Running {
  child: Child;
  url: string | undefined;
}

export interface LaunchOptions extends Pick<RoleOptions, 'name' | 'dataDir' | 'env' | 'args'> {
  /** The name of this process when there are several of its role; its log file has that name. */
  label?: string;
  /** Of the sources; another release has them in another folder. */
  folder?: string;
}

/**
 * Starts a role once; resolves when it serves.
 * @throws StartupError when it ends before, or is not ready within a minute
 */
export async function launchRole({
  name,
  label,
  folder = project,
  dataDir,
  env,
  args = [],
}: LaunchOptions): Promise<Running> {
  const child = await startChild({
    name: label ?? name,
    dataDir,
    command: process.execPath,
    args: [join(folder, name, 'main.ts'), `--data-dir=${dataDir}`, ...args], // marks whose process this is, and that its settings are printed
    // What the first start compiles, later ones read (nodejs.org/api/module.html#module-compile-cache).
    env: { ...env, NODE_COMPILE_CACHE: env.NODE_COMPILE_CACHE || join(dataDir, 'compiled') },
    cwd: process.cwd(),
    output: label === undefined ? 'inherit' : 'file',
    ipc: true,
  });
  const ready = await Promise.race([
    readyMessage(child),
    child.exited,
    delay(readyDeadlineMs, undefined, { ref: false }),
  ]);
  if (ready !== undefined && 'type' in ready) return { child, url: ready.url };
  await child.stop('SIGTERM', 5_000);
  const where = label === undefined ? 'see its lines above' : `see ${join(dataDir, 'logs', `${label}.log`)}`;
  throw new StartupError(
    ready === undefined
      ? `${name} was not ready after ${seconds(readyDeadlineMs)}; ${where}.`
      : `${name} ended while it started (${how(ready)}); ${where}.`,
  );
}

interface ReadyMessage {
  type: 'ready';
  url: string | undefined;
}

function readyMessage(child: Child): Promise<ReadyMessage> {
  return new Promise((resolve) => {
    child.process.on('message', (message) => {
      if (typeof message !== 'object' || message === null || !('type' in message) || message.type !== 'ready') return;
      resolve({ type: 'ready', url: 'url' in message && typeof message.url === 'string' ? message.url : undefined });
    });
  });
}

/** Restarts the role whenever it exits; a failed start counts as an exit. */
async function keepRunning(
  options: RoleOptions,
  first: Child,
  stopping: AbortSignal,
  replace: (next: Running) => void,
): Promise<void> {
  const { name, log } = options;
  let child = first;
  let delayMs = 0;
  for (;;) {
    const began = performance.now();
    const exit = await child.exited;
    if (stopping.aborted) return;
    if (performance.now() - began > steadyAfterMs) delayMs = 0;
    const when = delayMs > 0 ? `in ${seconds(delayMs)}` : 'at once';
    log(`${name} ended unexpectedly (${how(exit)}); starting it again ${when}`);
    if (delayMs > 0) await delay(delayMs, undefined, { signal: stopping }).catch(() => {});
    if (stopping.aborted) return;
    delayMs = Math.min(Math.max(firstDelayMs, 2 * delayMs), longestDelayMs);
    try {
      const next = await launchRole(options);
      child = next.child;
      replace(next);
      log(`${name} is ready again`);
      if (stopping.aborted) await child.stop('SIGTERM', longestDelayMs);
    } catch (error) {
      log(error instanceof Error ? error.message : String(error));
    }
  }
}

function how(exit: Exit): string {
  return exit.signal ? `signal ${exit.signal}` : `exit code ${exit.code}`;
}
