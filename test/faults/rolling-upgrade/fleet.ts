// An installation of an earlier release behind a balancer, whose processes are replaced by those of this release one by one.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { newToken } from '../../../core/api-token.ts';
import { createPool, type Pool } from '../../../db/connections/pool.ts';
import { freePorts } from '../../../local/ports.ts';
import { TENANT_ROLE } from '../../../local/role-passwords.ts';
import { ensureNamespace } from '../../../temporal-config/namespace.ts';
import { type Balancer, startBalancer } from '../../support/haproxy.ts';
import { createDatabase } from '../../support/own-database.ts';
import { checkoutOf, type EarlierRelease } from '../../support/releases.ts';
import { type Service, startService } from '../../support/service.ts';
import { asServices, stackAddresses } from '../../support/stack.ts';
import { until } from '../../support/until.ts';
import { Requests } from '../upgrade/requests.ts';

const project = join(import.meta.dirname, '..', '..', '..');
const run = promisify(execFile);
const OLD_APIS = 2;
const OLD_WORKERS = 2;
// haproxy needs 1 s to find out.
const DRAIN_SECONDS = '4';

/** From which release, and with which settings of each. */
export interface Way {
  from: EarlierRelease;
  title: string;
  /** Of the old workers and of the new one. */
  old: Record<string, string>;
  now: Record<string, string>;
}

export interface Fleet {
  /** To whichever API the balancer chooses. */
  requests: Requests;
  balancer: Balancer;
  pool: Pool;
  temporal: Client;
  /** Of the earlier release, running or not. */
  old: { apis: Service[]; workers: Service[] };
  /** Of this release. */
  now: Service[];
  /** `hookyard migrate` of this release. */
  migrate(): Promise<void>;
  startWorker(): Promise<Service>;
  /** Resolves when the balancer sends it requests. */
  startApi(): Promise<Service>;
  /** Ends a process of the earlier release, as its operator would. @returns its exit code */
  end(service: Service): Promise<number | string | null>;
  close(): Promise<void>;
}

/** Starts the earlier release: two APIs behind a balancer, and two workers. */
export async function startFleet(way: Way): Promise<Fleet> {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const step of closing.toReversed()) await step();
  };
  try {
    return await start(way, closing, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function start({ from, old, now }: Way, closing: (() => Promise<unknown>)[], close: () => Promise<void>) {
  const checkout = await checkoutOf(from);
  const name = `rolling-${randomBytes(6).toString('hex')}`;
  const { temporalAddress } = stackAddresses();
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-rolling-'));
  closing.push(async () => rmSync(folder, { recursive: true, force: true }));
  const { databaseUrl, drop } = await createDatabase(name.replace('-', '_'));
  closing.push(drop);
  const connection = Connection.lazy({ address: temporalAddress });
  const pool = createPool(databaseUrl, { max: 2, statementTimeoutMs: 20_000, onError: () => {} });
  closing.push(() => Promise.all([pool.end(), connection.close()]));
  await ensureNamespace(connection, name);
  if (from.hasRoles) await migrateBy(checkout, databaseUrl);

  const token = newToken();
  const common = {
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: name,
    HOOKYARD_DATA_DIR: folder,
    HOOKYARD_API_KEY: token,
    HOOKYARD_ENCRYPTION_KEYS: `rolling:${randomBytes(32).toString('base64')}`,
  };
  const started: Service[] = [];
  closing.push(() => Promise.all(started.map((service) => service.kill())));
  const launch = async (role: 'api' | 'worker', env: Record<string, string>, of?: string) => {
    const service = await startService(role, { ...common, ...env }, of);
    started.push(service);
    return service;
  };
  const ofOld = {
    DATABASE_URL: from.hasRoles ? asServices(databaseUrl) : databaseUrl,
    ...(from.drains && { HOOKYARD_DRAIN_SECONDS: DRAIN_SECONDS }),
    ...(from.hasRoles && { HOOKYARD_METRICS_PORT: '0' }),
  };
  const ports = await freePorts(OLD_APIS + 1);
  const [portOfNew = 0, ...portsOfOld] = ports;
  // One after the other: the first makes the tables, the organization and the bundle of workflows.
  const apis: Service[] = [];
  for (const port of portsOfOld)
    apis.push(await launch('api', { ...ofOld, ...old, HOOKYARD_PORT: String(port) }, checkout));
  const workers: Service[] = [];
  for (let index = 0; index < OLD_WORKERS; index += 1)
    workers.push(await launch('worker', { ...ofOld, ...old }, checkout));
  const balancer = await startBalancer(portsOfOld, undefined, [portOfNew]);
  closing.push(balancer.close);

  const ofNow = { DATABASE_URL: asServices(databaseUrl), ...now };
  const fleet: Fleet = {
    requests: new Requests(balancer.url, token),
    balancer,
    pool,
    temporal: new Client({ connection, namespace: name }),
    old: { apis, workers },
    now: [],
    migrate: () => migrateBy(project, databaseUrl),
    async startWorker() {
      const worker = await launch('worker', ofNow);
      fleet.now.push(worker);
      return worker;
    },
    async startApi() {
      const api = await launch('api', { ...ofNow, HOOKYARD_PORT: String(portOfNew) });
      fleet.now.push(api);
      await until('the balancer to find it up', async () => (await balancer.states()).at(-1) === 'UP');
      return api;
    },
    async end(service) {
      if (apis.includes(service) && !from.drains) await balancer.takeOut(Number(new URL(service.url).port));
      return service.stop();
    },
    close,
  };
  return fleet;
}

/** As an operator does it, with the command of a release. */
async function migrateBy(checkout: string, databaseUrl: string): Promise<void> {
  const { username } = new URL(asServices(databaseUrl));
  const command = [join(checkout, 'cli', 'hookyard.js'), 'migrate', '--grant', username, '--tenant-role', TENANT_ROLE];
  const inherited = Object.entries(process.env).filter(([name]) => !/^(HOOKYARD_|DATABASE_)/.test(name));
  const env = { ...Object.fromEntries(inherited), HOOKYARD_MIGRATE_DATABASE_URL: databaseUrl };
  await run(process.execPath, command, { env, cwd: checkout });
}
