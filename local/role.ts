// One role of Hookyard (api, worker) as a child process that is kept running. Contract with the role: it sends `{ type:
// 'ready', url? }` over IPC when it serves; on SIGTERM, or when the channel closes because we are gone, it finishes
// what it is doing and exits 0.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Log, phase, StartupError, seconds } from './errors.ts';
import { type Child, how, keepUp, startChild, startService } from './process.ts';

const project = join(import.meta.dirname, '..');
const readyDeadlineMs = 60_000;

export type Role = Awaited<ReturnType<typeof startRole>>;

interface RoleOptions {
  name: 'api' | 'worker';
  dataDir: string;
  env: NodeJS.ProcessEnv;
  args?: string[];
  log: Log;
}

/** Keeps it running until `stop`. @throws StartupError when it does not become ready the first time */
export async function startRole(options: RoleOptions) {
  const { name, log } = options;
  const stopping = new AbortController();
  let url: string | undefined;
  const launch = async () => {
    const running = await launchRole(options);
    ({ url } = running);
    return running.child;
  };
  const end = (child: Child) => child.stop('SIGTERM', 0);
  const service = await phase(log, `${name} is ready`, () => startService(launch, end));
  const kept = keepUp(name, service, stopping.signal, log);
  return {
    get url(): string | undefined {
      return url;
    },
    get pid(): number {
      return service.child.pid;
    },
    /** SIGTERM, after `graceMs` SIGKILL. @returns false when it had to be killed */
    async stop(graceMs: number): Promise<boolean> {
      stopping.abort();
      await kept;
      const exit = await service.child.stop('SIGTERM', graceMs);
      if (exit.signal === 'SIGKILL') log(`${name} did not finish within ${seconds(graceMs)} and was killed`);
      return exit.signal !== 'SIGKILL';
    },
  };
}

interface LaunchOptions extends Pick<RoleOptions, 'name' | 'dataDir' | 'env' | 'args'> {
  label?: string;
}

/** @throws StartupError when it ends before it serves, or does not within a minute */
export async function launchRole({ name, label, dataDir, env, args = [] }: LaunchOptions) {
  const child = await startChild({
    name: label ?? name,
    dataDir,
    command: process.execPath,
    args: [join(project, name, 'main.ts'), `--data-dir=${dataDir}`, ...args], // marks whose process this is, and that its settings are printed
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
  const where = label === undefined ? 'see its log lines above' : `see ${join(dataDir, 'logs', `${label}.log`)}`;
  throw new StartupError(
    ready === undefined
      ? `${name} was not ready after ${seconds(readyDeadlineMs)}; ${where}`
      : `${name} exited during startup (${how(ready)}); ${where}`,
  );
}

interface ReadyMessage {
  type: 'ready';
  url?: string;
}

function readyMessage(child: Child): Promise<ReadyMessage> {
  return new Promise((resolve) => {
    child.process.on('message', (message: ReadyMessage) => {
      if (message?.type === 'ready') resolve(message);
    });
  });
}
