// Hookyard as the benches run it: one API and one worker process on the stack, and the records a bench needs.
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { Plan } from '../../core/config/plans-and-scopes.ts';
import { readSettings } from '../../core/config/config.ts';
import { newId } from '../../core/text/ids.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { hashToken, newToken } from '../../core/config/api-token.ts';
import { prepareDatabase } from '../../db/schema/prepare.ts';
import type { Stack } from '../../local/stack.ts';
import { type ManagementCall, managementCaller } from './call.ts';
import { type Cost, readCounters } from './cost.ts';
import { residentMiB } from './measure.ts';
import { type RunningChild, startProcess } from './processes.ts';
import { until } from '../../test/support/until.ts';

/** What the sources of a bench verify webhooks with. */
export const SECRET = 'the secret of the bench';
const API_KEY = 'whr_bench_bench_bench_bench_bench';

/** MiB */
export interface Memory {
  worker: number;
  api: number;
}

/** An organization on a service. */
export interface Organization {
  /** Where the API listens. */
  url: string;
  organizationId: string;
  organizationSlug: string;
  /** A request to the management API. @throws when the answer is an error */
  call(method: string, path: string, body?: object): Promise<unknown>;
}

export interface Service extends Organization {
  api: RunningChild;
  worker: RunningChild;
  /** The environment of its processes, for more of them. */
  env: Record<string, string>;
  /** Connections of the bench itself. */
  pool: Pool;
  temporal: Client;
  /** What its processes and the servers have used so far. */
  counters(): Promise<Cost>;
  memoryMiB(): Memory;
  stop(): Promise<void>;
}

/** What the processes on a stack share. */
export interface Installation {
  /** The environment of each. */
  env: Record<string, string>;
  organizationId: string;
  organizationSlug: string;
  /** The management API of one of them. */
  callerOf(url: string): ManagementCall;
}

/** Prepares the database for processes on a stack. @param settings environment variables besides the usual ones */
export async function install(stack: Stack, settings: Record<string, string> = {}): Promise<Installation> {
  const env = environment(stack, stack.databaseUrl, settings);
  const { organization } = await prepareDatabase(readSettings(env), stack.databaseUrl);
  return {
    env,
    organizationId: organization.id,
    organizationSlug: organization.slug,
    callerOf: (url) => managementCaller(url, API_KEY),
  };
}

/**
 * For processes of another checkout: they prepare a new database by themselves, with the migrations that they have.
 * @returns the environment of each
 */
async function installApart(stack: Stack, settings: Record<string, string>): Promise<Record<string, string>> {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  const pool = connect(stack.databaseUrl);
  try {
    await pool.query(`create database ${name}`);
  } finally {
    await pool.end();
  }
  const url = new URL(stack.databaseUrl);
  url.pathname = `/${name}`;
  return environment(stack, url.href, settings);
}

function environment(stack: Stack, databaseUrl: string, settings: Record<string, string>) {
  return {
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: stack.temporalAddress,
    TEMPORAL_NAMESPACE: stack.namespace,
    HOOKYARD_DATA_DIR: mkdtempSync(join(stack.dataDir, 'service-')),
    HOOKYARD_API_KEY: API_KEY,
    HOOKYARD_DELIVERY_ALLOW: '127.0.0.1',
    HOOKYARD_PORT: '0',
    HOOKYARD_DRAIN_SECONDS: '0',
    // Every service of this stack opens the same data, so the keys must be the same.
    HOOKYARD_ENCRYPTION_KEYS: `bench:${Buffer.alloc(32, 7).toString('base64')}`,
    LOG_LEVEL: 'error',
    // As npm start does it.
    NODE_COMPILE_CACHE: join(stack.dataDir, 'compiled'),
    ...settings,
  };
}

const connect = (databaseUrl: string): Pool =>
  createPool(databaseUrl, { max: 1, statementTimeoutMs: 10_000, onError: () => {} });

/** What is different from one of two processes, or of two services, to the other. */
export interface OwnSettings {
  api?: Record<string, string>;
  worker?: Record<string, string>;
  /** The checkout whose processes these are, on a database of their own; by default this one, on that of the stack. */
  folder?: string;
}

/**
 * Starts both processes; resolves when they serve.
 * @param settings environment variables besides the usual ones
 */
export async function startService(
  stack: Stack,
  settings: Record<string, string> = {},
  own: OwnSettings = {},
): Promise<Service> {
  const env = own.folder === undefined ? (await install(stack, settings)).env : await installApart(stack, settings);
  const [api, worker] = await Promise.all([
    startProcess('api/main.ts', { ...env, ...own.api }, own.folder),
    startProcess('worker/main.ts', { ...env, ...own.worker }, own.folder),
  ]);
  const pool = connect(env.DATABASE_URL ?? stack.databaseUrl);
  const { rows } = await pool.query<{ id: string; slug: string }>(
    'select id, slug from organizations order by created_at, id limit 1',
  );
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const url = api.ready.url ?? '';
  const pids = { api: api.pid, worker: worker.pid };
  return {
    api,
    worker,
    env,
    url,
    organizationId: rows[0]?.id ?? '',
    organizationSlug: rows[0]?.slug ?? '',
    pool,
    counters: () => readCounters(stack, pool, pids),
    memoryMiB: () => ({ worker: residentMiB(pids.worker), api: residentMiB(pids.api) }),
    temporal: new Client({ connection, namespace: stack.namespace }),
    call: managementCaller(url, API_KEY),
    async stop() {
      await api.stop();
      await worker.stop();
      await pool.end();
      await connection.close();
    },
  };
}

/**
 * One more organization, with the limits of its plan. `leave` deletes its destinations, so that what is left to do for
 * them ends.
 */
export async function addOrganization(
  service: Service,
  plan: Plan = 'business',
): Promise<Organization & { apiKey: string; leave: () => Promise<void> }> {
  const id = newId('org');
  const slug = `bench-${id.slice(-12)}`;
  const apiKey = newToken();
  await service.pool.query(
    `with organization as (insert into organizations (id, slug, name, plan) values ($1, $2, $2, $6) returning id)
     insert into api_keys (id, organization_id, name, token_hash, token_hint, scopes)
     select $3, id, 'bench', $4, $5, '{read,write}' from organization`,
    [id, slug, newId('key'), hashToken(apiKey), apiKey.slice(-4), plan],
  );
  const call = managementCaller(service.url, apiKey);
  async function leave(): Promise<void> {
    for (;;) {
      const { rows } = await service.pool.query<{ id: string }>(
        'select id from destinations where organization_id = $1 limit 100',
        [id],
      );
      if (rows.length === 0) return;
      await call('DELETE', '/api/destinations/bulk', { ids: rows.map((row) => row.id) });
    }
  }
  return { url: service.url, organizationId: id, organizationSlug: slug, apiKey, call, leave };
}

export interface Pipe {
  webhookUrl: string;
  routeId: string;
  /** In the order of their addresses; `destinationId` is the first. */
  destinationIds: string[];
  destinationId: string;
}

/**
 * A source with one route to a destination for each address.
 * @param options members of the destinations and of the route besides names and addresses
 */
export async function createPipe(
  service: Organization,
  urls: string | string[],
  options: { destination?: object; route?: object } = {},
): Promise<Pipe> {
  const destinationIds: string[] = [];
  for (const url of [urls].flat()) destinationIds.push(await createDestination(service, url, options.destination));
  const { path, routeId } = await createRoute(service, destinationIds, options.route);
  return { webhookUrl: service.url + path, routeId, destinationIds, destinationId: destinationIds[0] ?? '' };
}

/** @param members besides its name and address @returns its id */
export async function createDestination(service: Organization, url: string, members: object = {}): Promise<string> {
  const { id } = (await service.call('POST', '/api/destinations', { name: 'bench', url, ...members })) as {
    id: string;
  };
  return id;
}

/**
 * A source that verifies GitHub's signature, with one route.
 * @param members of the route besides source and destinations
 * @returns the path of its webhooks, and the ids
 */
export async function createRoute(
  service: Organization,
  destinationIds: string[],
  members: object = {},
): Promise<{ path: string; sourceId: string; routeId: string }> {
  const slug = `bench-${randomBytes(6).toString('hex')}`;
  const source = (await service.call('POST', `/api/organizations/${service.organizationId}/sources`, {
    name: slug,
    slug,
    verificationConfig: { type: 'github', secret: SECRET },
  })) as { id: string };
  const route = { name: slug, sourceId: source.id, destinationIds, ...members };
  const { id } = (await service.call('POST', '/api/routes', route)) as { id: string };
  return { path: `/ingest/${service.organizationSlug}/${slug}`, sourceId: source.id, routeId: id };
}

const DRAIN_DEADLINE_MS = 120_000;
// Of what is known to wait; slower than any machine that is worth measuring.
const DRAIN_MS_PER_DELIVERY = 50;
const QUIET_DEADLINE_MS = 120_000;

/**
 * Waits until nothing is left to start: it would stand before the deliveries of the next measurement.
 * @param waiting deliveries that may wait, beyond the usual backlog
 */
export async function drained({ pool }: Pick<Service, 'pool'>, waiting = 0): Promise<void> {
  const isEmpty = async () => (await pool.query('select from outbox limit 1')).rowCount === 0;
  await until('every delivery started', isEmpty, DRAIN_DEADLINE_MS + waiting * DRAIN_MS_PER_DELIVERY);
}

/** Waits until no delivery is under way at all, retries included. */
export async function quiet(service: Service): Promise<void> {
  await drained(service);
  const query = `WorkflowType = 'delivery' and ExecutionStatus = 'Running'`;
  const isQuiet = async () => (await service.temporal.workflow.count(query)).count === 0;
  await until('every delivery ended', isQuiet, QUIET_DEADLINE_MS);
}
