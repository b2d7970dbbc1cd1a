// A whole Hookyard for a test file: API and worker processes, an organization, and a look past the API into PostgreSQL
// and Temporal. `sharedHookyard` is for files that leave the processes alone, `startHookyard` for those that kill them.
import { Client, Connection } from '@temporalio/client';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { newToken } from '../../core/config/api-token.ts';
import { ensureNamespace } from '../../temporal-config/namespace.ts';
import { type ApiClient, createClient } from './api-client.ts';
import { type CreatedDatabase, createDatabase, createMigratedDatabase } from './database/own-database.ts';
import {
  createOrganization,
  type ProcessSettings,
  type Service,
  sharedService,
  startService,
  testPool,
} from './service.ts';
import { asServices, stackAddresses } from './stack.ts';

export interface Hookyard {
  /** The API with the organization's key. */
  readonly client: ApiClient;
  organizationId: string;
  /** The path of the organization-scoped family. */
  base: string;
  pool: Pool;
  temporal: Client;
  /** Everything the processes have logged so far. */
  logs(): string;
  /** Lets go of what was opened or started for this file. */
  close(): Promise<void>;
}

/** An organization of its own on the processes and the database that all such files share. */
export async function sharedHookyard(): Promise<Hookyard> {
  const [api, worker] = await Promise.all([sharedService('api'), sharedService('worker')]);
  const { api: client, id, base } = await createOrganization();
  const { temporalAddress, namespace } = stackAddresses();
  const connection = Connection.lazy({ address: temporalAddress });
  return {
    client,
    organizationId: id,
    base,
    pool: testPool(),
    temporal: new Client({ connection, namespace }),
    logs: () => `${api.output()}\n${worker.output()}`,
    close: () => connection.close(),
  };
}

export interface OwnHookyard extends Hookyard {
  api: Service;
  /** Running or not, in the order of their start. */
  workers: Service[];
  /** Where its own database is. */
  databaseUrl: string;
  /** Starts another API process; `client` uses it from then on. */
  startApi(settings?: ProcessSettings): Promise<Service>;
  /** @param settings environment variables besides those of this Hookyard */
  startWorker(settings?: ProcessSettings): Promise<Service>;
  /** Workers with these settings, one for each, and no others: those that run and have them, else new ones. */
  onlyWorkers<Wanted extends ProcessSettings[]>(...wanted: Wanted): Promise<{ [Each in keyof Wanted]: Service }>;
  /** The only worker that runs, when it has these settings; else a new one in place of the others. */
  onlyWorker(settings?: ProcessSettings): Promise<Service>;
}

/** The servers that a Hookyard of its own runs on. */
export interface Servers {
  databaseUrl: string;
  temporalAddress: string;
}

/** Settings of all processes of a Hookyard; a function gets the URL of its database. */
export type CommonSettings = ProcessSettings | ((databaseUrl: string) => ProcessSettings);

/**
 * Processes, database and Temporal namespace of its own; starts the API and no worker.
 * @param servers by default those of the stack that all test files share
 * @param settings of all its processes
 * @param existing what is there already and is used instead of new ones; the database goes with this Hookyard all the
 * same
 */
export async function startHookyard(
  servers: Servers = stackAddresses(),
  settings: CommonSettings = {},
  existing: { namespace?: string; database?: CreatedDatabase } = {},
): Promise<OwnHookyard> {
  const { temporalAddress } = servers;
  const name = `test-${randomBytes(6).toString('hex')}`;
  const namespace = existing.namespace ?? name;
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-test-'));
  const isOfStack = servers.databaseUrl === stackAddresses().databaseUrl;
  const { databaseUrl, drop } = existing.database ?? (await makeDatabase(name.replace('-', '_'), servers, isOfStack));
  const servicesUrl = isOfStack ? asServices(databaseUrl) : databaseUrl;
  const common = typeof settings === 'function' ? settings(servicesUrl) : settings;
  const token = common.HOOKYARD_API_KEY ?? newToken();
  const env = {
    DATABASE_URL: servicesUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: namespace,
    HOOKYARD_DATA_DIR: folder,
    HOOKYARD_API_KEY: token,
    ...common,
  };
  const pool = createPool(databaseUrl, { max: 2, statementTimeoutMs: 20_000, onError: () => {} });
  const connection = Connection.lazy({ address: temporalAddress });
  const started: Service[] = [];
  const settingsOf = new Map<Service, string>();
  const start = async (role: 'api' | 'worker', own: ProcessSettings = {}) => {
    const tuning = { ...common.tuning, ...own.tuning };
    const service = await startService(role, { ...env, ...own, tuning });
    started.push(service);
    return service;
  };
  // A worker would make the namespace too. It takes two seconds until Temporal knows a new one, in which the API
  // starts.
  const [api] = await Promise.all([start('api'), existing.namespace ?? ensureNamespace(connection, namespace)]);
  const testInstance: OwnHookyard = {
    api,
    workers: [],
    get client() {
      return createClient(testInstance.api.url, token);
    },
    organizationId: '',
    base: '',
    pool,
    temporal: new Client({ connection, namespace }),
    logs: () => started.map((service) => service.output()).join('\n'),
    databaseUrl,
    async startApi(settings) {
      testInstance.api = await start('api', settings);
      return testInstance.api;
    },
    async startWorker(settings = {}) {
      const worker = await start('worker', settings);
      testInstance.workers.push(worker);
      settingsOf.set(worker, JSON.stringify(settings));
      return worker;
    },
    async onlyWorkers<Wanted extends ProcessSettings[]>(...wanted: Wanted) {
      const others = testInstance.workers.filter(({ running }) => running);
      const kept = wanted.map((settings) => {
        const place = others.findIndex((worker) => settingsOf.get(worker) === JSON.stringify(settings));
        return place === -1 ? undefined : others.splice(place, 1)[0];
      });
      testInstance.workers = kept.filter((worker) => worker !== undefined);
      await Promise.all(others.map((worker) => worker.stop()));
      const workers = kept.map((worker, index) => worker ?? testInstance.startWorker(wanted[index]));
      return (await Promise.all(workers)) as { [Each in keyof Wanted]: Service };
    },
    async onlyWorker(settings = {}) {
      return (await testInstance.onlyWorkers(settings))[0];
    },
    async close() {
      // What they would put in order goes with the database, and is tested where processes are told to end.
      await Promise.all(started.map((service) => service.kill()));
      await Promise.all([pool.end(), connection.close()]);
      await drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const me = await testInstance.client.get<{ organization: { id: string } }>('/api/auth/me');
  testInstance.organizationId = me.organization.id;
  testInstance.base = `/api/organizations/${testInstance.organizationId}`;
  return testInstance;
}

function makeDatabase(name: string, servers: Servers, isOfStack: boolean): Promise<CreatedDatabase> {
  return isOfStack ? createMigratedDatabase(name) : createDatabase(name, servers.databaseUrl);
}
