// Hookyard as it is tortured: PostgreSQL, Temporal, two API and some worker processes, all on free ports of this
// machine.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type ManagementCall, managementCaller } from '../../bench/support/call.ts';
import { readSettings } from '../../core/config/config.ts';
import { newToken } from '../../core/config/api-token.ts';
import { prepareDatabase } from '../../db/schema/prepare.ts';
import { freePorts } from '../../local/ports.ts';
import { type Service, startService } from '../../local/process.ts';
import { launchRole } from '../../local/role.ts';
import { type Stack, startStack } from '../../local/stack.ts';
import { makeTables } from '../support/database/make-tables.ts';
import { ProcessClock } from '../support/workflows/clock.ts';
import { Part } from './parts.ts';
import { namesOfWorkers } from './schedule.ts';

// An attempt may take 15 s to end, and what it leaves a little more.
const STOP_GRACE_MS = 20_000;
const ENCRYPTION_KEY_BYTES = 32;
const APIS = ['api-1', 'api-2'];
const SLOW_CLOCK_MS = -3_600_000;

export interface Instance {
  /** By name: api-1, api-2, worker-1 and so on, temporal, postgres. */
  parts: Map<string, Part>;
  /** Where webhooks are sent to: each API. */
  urls: string[];
  /** Of PostgreSQL itself, as its superuser. */
  databaseUrl: string;
  temporal: { address: string; namespace: string };
  organizationId: string;
  /** A request to an API. */
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
export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const { dataDir, signal, log } = options;
  const ports = { postgresPort: 0, temporalPort: 0, uiPort: null };
  const stack = await startStack({ dataDir, ...ports, onDatabase: makeTables, signal, log: () => {} });
  const parts = new Map<string, Part>();
  const slowClock = new ProcessClock(SLOW_CLOCK_MS);
  const stop = async () => {
    await Promise.all([...parts.values()].filter(isProcess).map((part) => part.close()));
    for (const name of ['temporal', 'postgres']) await parts.get(name)?.close();
    await stack.stop();
    slowClock.close();
  };
  try {
    for (const name of ['temporal', 'postgres'] as const) {
      const service = stack[name];
      if (service) parts.set(name, new Part(name, service, log));
    }
    return { ...(await startProcesses(stack, parts, slowClock, options)), parts, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** APIs and workers. */
const isProcess = ({ name }: Part): boolean => /^(api|worker)-/.test(name);

async function startProcesses(
  stack: Stack,
  parts: Map<string, Part>,
  slowClock: ProcessClock,
  { workers, log }: InstanceOptions,
) {
  const token = newToken();
  const addPart = (name: string, service: Service) => void parts.set(name, new Part(name, service, log));
  const env = processEnvironment(stack, token);
  const { organization } = await prepareDatabase(readSettings(env), stack.runtimeUrl);
  const ports = await freePorts(APIS.length);
  const launch = async (label: string) => {
    const own = {
      ...env,
      ...(label === 'api-2' && slowClock.environment),
      // A worker has no use for it.
      HOOKYARD_PORT: String(ports[APIS.indexOf(label)] ?? 0),
    };
    const name = label.startsWith('api') ? 'api' : 'worker';
    return (await launchRole({ name, label, dataDir: stack.dataDir, env: own })).child;
  };
  const start = async (label: string) =>
    addPart(
      label,
      await startService(
        () => launch(label),
        (child) => child.stop('SIGTERM', STOP_GRACE_MS),
      ),
    );
  const started = await Promise.allSettled([...APIS, ...namesOfWorkers(workers)].map(start));
  for (const result of started) if (result.status === 'rejected') throw result.reason;
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  return {
    urls,
    databaseUrl: stack.databaseUrl,
    temporal: { address: stack.temporalAddress, namespace: stack.namespace },
    organizationId: organization.id,
    call: managementCaller(urls[0] ?? '', token),
  };
}

/** The caller's environment without Hookyard's settings, pointing at the stack. */
function processEnvironment(stack: Stack, token: string): NodeJS.ProcessEnv {
  const own = /^(HOOKYARD_|TEMPORAL_|SMTP_|R2_|OTEL_|LOG_LEVEL$|DATABASE_(DIRECT_)?URL$|POSTGRES_PORT$)/;
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name))),
    DATABASE_URL: stack.runtimeUrl,
    TEMPORAL_ADDRESS: stack.temporalAddress,
    TEMPORAL_NAMESPACE: stack.namespace,
    HOOKYARD_DATA_DIR: join(stack.dataDir, 'app'),
    HOOKYARD_API_KEY: token,
    HOOKYARD_ENCRYPTION_KEYS: `torture:${randomBytes(ENCRYPTION_KEY_BYTES).toString('base64')}`,
    HOOKYARD_DELIVERY_ALLOW: '127.0.0.1',
    HOOKYARD_DRAIN_SECONDS: '0',
    OTEL_EXPORTER_PROMETHEUS_PORT: '0',
    LOG_LEVEL: 'warn',
  };
}
