// Hookyard as the benches run it: one API and one worker process on the stack, and the records a bench needs.
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../../core/config.ts';
import { createPool, type Pool } from '../../db/pool.ts';
import { prepareDatabase } from '../../db/prepare.ts';
import type { Stack } from '../../local/stack.ts';
import { type RunningChild, startProcess } from './processes.ts';

/** What the sources of a bench verify webhooks with. */
export const SECRET = 'the secret of the bench';
const API_KEY = 'whr_bench_bench_bench_bench_bench';

export interface Service {
  api: RunningChild;
  worker: RunningChild;
  /** A connection of the bench itself. */
  pool: Pool;
  /** A request to the management API. @throws when the answer is an error */
  call(method: string, path: string, body?: object): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts both processes; resolves when they serve. @param settings environment variables besides the usual ones */
export async function startService(stack: Stack, settings: Record<string, string> = {}): Promise<Service> {
  const env = {
    DATABASE_URL: stack.databaseUrl,
    TEMPORAL_ADDRESS: stack.temporalAddress,
    TEMPORAL_NAMESPACE: stack.namespace,
    HOOKYARD_DATA_DIR: mkdtempSync(join(stack.dataDir, 'service-')),
    HOOKYARD_API_KEY: API_KEY,
    HOOKYARD_DELIVERY_ALLOW: '127.0.0.1',
    HOOKYARD_PORT: '0',
    // Every service of this stack opens the same data, so the keys must be the same.
    HOOKYARD_ENCRYPTION_KEYS: `bench:${Buffer.alloc(32, 7).toString('base64')}`,
    LOG_LEVEL: 'error',
    ...settings,
  };
  await prepareDatabase(readSettings(env), stack.databaseUrl);
  const [api, worker] = await Promise.all([startProcess('api/main.ts', env), startProcess('worker/main.ts', env)]);
  const pool = createPool(stack.databaseUrl, { max: 1, statementTimeoutMs: 10_000, onError: () => {} });
  return {
    api,
    worker,
    pool,
    call: (method, path, body) => call(api.ready.url ?? '', method, path, body),
    async stop() {
      await api.stop();
      await worker.stop();
      await pool.end();
    },
  };
}

export interface Pipe {
  webhookUrl: string;
  destinationId: string;
}

/**
 * A source that verifies GitHub's signature, with one route to one destination.
 * @param destination members of the destination besides its name and address
 */
export async function createPipe(service: Service, url: string, destination: object = {}): Promise<Pipe> {
  const { organization } = (await service.call('GET', '/api/auth/me')) as { organization: { id: string } };
  const slug = `bench-${randomBytes(6).toString('hex')}`;
  const source = (await service.call('POST', `/api/organizations/${organization.id}/sources`, {
    name: slug,
    slug,
    verificationConfig: { type: 'github', secret: SECRET },
  })) as { id: string };
  const { id } = (await service.call('POST', '/api/destinations', { name: slug, url, ...destination })) as {
    id: string;
  };
  await service.call('POST', '/api/routes', { name: slug, sourceId: source.id, destinationIds: [id] });
  return { webhookUrl: `${service.api.ready.url}/ingest/default/${slug}`, destinationId: id };
}

async function call(base: string, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(base + path, {
    method,
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response.status === 204 ? undefined : response.json();
}

const DRAIN_DEADLINE_MS = 30_000;

/** Waits until nothing is left to start: it would stand before the deliveries of the next measurement. */
export async function drained(pool: Pool): Promise<void> {
  const until = performance.now() + DRAIN_DEADLINE_MS;
  for (;;) {
    const { rows } = await pool.query<{ waiting: number }>('select count(*)::int as waiting from outbox');
    if (rows[0]?.waiting === 0) return;
    if (performance.now() > until) throw new Error(`${rows[0]?.waiting} deliveries are still waiting`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
