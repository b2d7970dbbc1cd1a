// Hookyard as it is tortured: PostgreSQL, Temporal, two API and some worker processes, all on free ports of this machine.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type ManagementCall, managementCaller } from '../../bench/support/call.ts';
import { readSettings } from '../../core/config.ts';
import { newToken } from '../../core/api-token.ts';
import { prepareDatabase } from '../../db/schema/prepare.ts';
import { freePorts } from '../../local/ports.ts';
import { startService } from '../../local/process.ts';
import { launchRole } from '../../local/role.ts';
import { type Stack, startStack } from '../../local/stack.ts';
import { Part } from './parts.ts';
import { namesOfWorkers } from './schedule.ts';

// An attempt may take 15 s to end, and what it leaves a little more.
const STOP_GRACE_MS = 20_000;
const ENCRYPTION_KEY_BYTES = 32;

export interface Instance {
  /** By name: api-1, api-2, worker-1 and so on, temporal, postgres. */
  parts: Map<string, Part>;
  urls: string[];
  databaseUrl: string;
  temporal: { address: string; namespace: string };
  organizationId: string;
  /** A request to the first API. */
  call: ManagementCall;
  /** Ends all of it in order. */
  stop(): Promise<void>;
}

interface InstanceOptions {
  dataDir: string;
  /** How many worker processes. */
  workers: number;
  signal: AbortSignal;
  log: (line: string) => void;
}

/**
 * Starts everything.
 * @throws StartupError; what was started has ended then
 */
export async function startInstance({ dataDir, workers, signal, log }: InstanceOptions): Promise<Instance> {
  const stack = await startStack({ dataDir, postgresPort: 0, temporalPort: 0, uiPort: null, signal, log: () => {} });
  const parts = new Map<string, Part>();
  const stop = async () => {
    await Promise.all([...parts.values()].filter(({ name }) => isRole(name)).map((part) => part.close()));
    for (const name of ['temporal', 'postgres']) await parts.get(name)?.close();
    await stack.stop();
  };
  try {
    for (const name of ['temporal', 'postgres'] as const) {
      const service = stack[name];
      if (service) parts.set(name, new Part(name, service, log));
    }
    return { ...(await startRoles(stack, parts, workers, log)), parts, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const isRole = (name: string) => /^(api|worker)-/.test(name);

async function startRoles(stack: Stack, parts: Map<string, Part>, workers: number, log: (line: string) => void) {
  const token = newToken();
  const env = roleEnvironment(stack, token);
  const { organization } = await prepareDatabase(readSettings(env), stack.databaseUrl);
  const ports = await freePorts(2);
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const start = async (label: string) => {
    const role = label.startsWith('api') ? 'api' : 'worker';
    // A worker has no use for it.
    const own = { ...env, HOOKYARD_PORT: String(ports[label === 'api-2' ? 1 : 0]) };
    const service = await startService(
      async () => (await launchRole({ name: role, label, dataDir: stack.dataDir, env: own })).child,
      (child) => child.stop('SIGTERM', STOP_GRACE_MS),
    );
    parts.set(label, new Part(label, service, log));
  };
  const started = await Promise.allSettled(['api-1', 'api-2', ...namesOfWorkers(workers)].map(start));
  for (const result of started) if (result.status === 'rejected') throw result.reason;
  return {
    urls,
    databaseUrl: stack.databaseUrl,
    temporal: { address: stack.temporalAddress, namespace: stack.namespace },
    organizationId: organization.id,
    call: managementCaller(urls[0] ?? '', token),
  };
}

/** The caller's environment without Hookyard's settings, pointing at the stack. */
function roleEnvironment(stack: Stack, token: string): NodeJS.ProcessEnv {
  const own = /^(HOOKYARD_|TEMPORAL_|SMTP_|R2_|OTEL_|LOG_LEVEL$|DATABASE_(DIRECT_)?URL$|POSTGRES_PORT$)/;
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name))),
    DATABASE_URL: stack.databaseUrl,
    TEMPORAL_ADDRESS: stack.temporalAddress,
    TEMPORAL_NAMESPACE: stack.namespace,
    HOOKYARD_DATA_DIR: join(stack.dataDir, 'app'),
    HOOKYARD_API_KEY: token,
    HOOKYARD_ENCRYPTION_KEYS: `torture:${randomBytes(ENCRYPTION_KEY_BYTES).toString('base64')}`,
    HOOKYARD_DELIVERY_ALLOW: '127.0.0.1',
    HOOKYARD_DRAIN_SECONDS: '0',
    LOG_LEVEL: 'warn',
  };
}
