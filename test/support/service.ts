// Hookyard's own processes for tests: started as children against the stack of the test run, on free ports.
// They share the stack's data folder, because all processes on one database need the same encryption keys.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { newId } from '../../core/text/ids.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { hashToken, newToken } from '../../core/config/api-token.ts';
import type { Tuning } from '../../core/config/tuning.ts';
import { type ApiClient, createClient } from './api-client.ts';
import { isRunning, outputOf } from './programs/children.ts';
import { asServices, stackAddresses } from './stack.ts';

const project = join(import.meta.dirname, '..', '..');
const READY_DEADLINE_MS = 180_000;
const STOP_DEADLINE_MS = 30_000;

export type RoleName = 'api' | 'worker';

/**
 * What a process is started with: variables of its environment, and limits that are no settings
 * (core/config/tuning.ts).
 */
export interface ProcessSettings {
  [variable: Uppercase<string>]: string;
  tuning?: Partial<Tuning>;
}

/** A running process. */
export interface Service {
  /** Where the API listens; empty for a worker. */
  url: string;
  pid: number;
  /** Until it has ended, in whatever way. */
  readonly running: boolean;
  /** Everything it has printed so far. */
  output(): string;
  /** SIGTERM; @returns its exit code, or the signal that ended it */
  stop(): Promise<number | string | null>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

/** What a process that ended by itself left behind. */
export interface Ended {
  code: number | string | null;
  output: string;
}

// All tests send wrong keys from one address.
const UNHINDERED = { failedSignInsPerMinute: 1_000_000 };

const running = new Set<ChildProcess>();

function launch(
  role: RoleName,
  { tuning, ...env }: ProcessSettings,
  folder = project,
): { child: ChildProcess; output: () => string } {
  const usual = { HOOKYARD_PORT: '0', HOOKYARD_DELIVERY_ALLOW: '127.0.0.1', LOG_LEVEL: 'info' };
  // There is no load balancer. Other releases may not know the settings.
  const usualHere = folder === project && { HOOKYARD_DRAIN_SECONDS: '0', OTEL_EXPORTER_PROMETHEUS_PORT: '0' };
  // A worker that needs no others starts as it does in production.
  const isTuned = folder === project && (role === 'api' || Object.keys(tuning ?? {}).length > 0);
  const program = isTuned
    ? [join(import.meta.dirname, 'tuned.ts'), role, JSON.stringify({ ...UNHINDERED, ...tuning })]
    : [join(folder, role, 'main.ts')];
  const child = spawn(process.execPath, program, {
    cwd: folder,
    env: { ...process.env, ...usual, ...usualHere, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return { child, output: outputOf(child) };
}

/**
 * Starts a process and waits until it serves.
 * @param env settings besides those of the stack
 * @param folder a checkout of another release, by default this one
 * @throws Error with its output when it ends, or is not ready in time
 */
export async function startService(
  role: RoleName,
  env: ProcessSettings = {},
  folder: string = project,
): Promise<Service> {
  const { child, output } = launch(role, env, folder);
  const url = await readyUrl(child, role, output);
  const exited = once(child, 'exit');
  const end = async (signal: NodeJS.Signals): Promise<number | string | null> => {
    if (isRunning(child)) {
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS);
      await exited;
      clearTimeout(timer);
    }
    return child.exitCode ?? child.signalCode;
  };
  return {
    url,
    pid: child.pid ?? 0,
    get running() {
      return isRunning(child);
    },
    output,
    stop: () => end('SIGTERM'),
    kill: async () => void (await end('SIGKILL')),
  };
}

/**
 * Runs a process that is expected to end by itself, for example because it refuses its settings.
 * @param mostMs after which it is killed
 */
export async function runToEnd(role: RoleName, env: ProcessSettings, mostMs = READY_DEADLINE_MS): Promise<Ended> {
  const { child, output } = launch(role, env);
  const timer = setTimeout(() => child.kill('SIGKILL'), mostMs);
  await once(child, 'close');
  clearTimeout(timer);
  return { code: child.exitCode ?? child.signalCode, output: output() };
}

function readyUrl(child: ChildProcess, role: RoleName, output: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (what: string) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`the ${role} ${what}; it printed:\n${output()}`));
    };
    const timer = setTimeout(() => fail(`was not ready within ${READY_DEADLINE_MS / 1000} s`), READY_DEADLINE_MS);
    child.once('exit', (code, signal) => fail(`ended with ${code ?? signal} while it started`));
    child.on('message', (message: { type?: string; url?: string }) => {
      if (message.type !== 'ready') return;
      clearTimeout(timer);
      child.removeAllListeners('exit');
      child.once('exit', () => running.delete(child));
      resolve(message.url ?? '');
    });
  });
}

const shared = new Map<RoleName, Promise<Service>>();

/** The one API or worker that test files share; it is started at the first call. */
export function sharedService(role: RoleName): Promise<Service> {
  const known = shared.get(role) ?? startService(role, { DATABASE_URL: asServices(stackAddresses().databaseUrl) });
  shared.set(role, known);
  return known;
}

/** Whether a test file of this run has started the worker that files share, which delivers whatever they ingest. */
export const hasSharedWorker = (): boolean => shared.has('worker');

let sharedPool: Pool | undefined;

/** A pool on the database under test. */
export function testPool(): Pool {
  sharedPool ??= createPool(stackAddresses().databaseUrl, { max: 4, statementTimeoutMs: 20_000, onError: () => {} });
  return sharedPool;
}

export interface TestOrganization {
  id: string;
  slug: string;
  token: string;
  /** Sends requests with this organization's key. */
  api: ApiClient;
  /** The path of its organization-scoped family. */
  base: string;
}

/**
 * Makes an organization with a key of its own, so that test files do not see each other's records.
 * @param options.service an API on another database, with a `pool` on that
 */
export async function createOrganization(
  options: { plan?: 'free' | 'pro' | 'business'; slug?: string; service?: Pick<Service, 'url'>; pool?: Pool } = {},
): Promise<TestOrganization> {
  const service = options.service ?? (await sharedService('api'));
  const id = newId('org');
  const slug = options.slug ?? `test-${id.slice(-12)}`;
  const token = newToken();
  await (options.pool ?? testPool()).query(
    `with organization as (insert into organizations (id, slug, name, plan) values ($1, $2, $2, $3) returning id)
     insert into api_keys (id, organization_id, name, token_hash, token_hint, scopes)
     select $4, id, 'test', $5, $6, '{read,write}' from organization`,
    [id, slug, options.plan ?? 'business', newId('key'), hashToken(token), token.slice(-4)],
  );
  return { id, slug, token, api: createClient(service.url, token), base: `/api/organizations/${id}` };
}

// Imported while mocha loads the test files, so this is a hook of the whole run.
after('ends the processes that the tests started', async function () {
  this.timeout(STOP_DEADLINE_MS * 2);
  const services = await Promise.allSettled(shared.values());
  await Promise.all(services.map((service) => service.status === 'fulfilled' && service.value.stop()));
  for (const child of running) child.kill('SIGKILL');
  await sharedPool?.end();
});
