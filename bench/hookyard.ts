// One measurement of Hookyard: saturated, then at half of what it reached.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../core/config.ts';
import { createPool, type Pool } from '../db/pool.ts';
import { prepareDatabase } from '../db/prepare.ts';
import type { Stack } from '../local/stack.ts';
import { cpuMs, type DatabaseCounters, databaseCounters, percentiles, residentMiB, treeCpuMs } from './measure.ts';
import { type RunningChild, startProcess } from './processes.ts';
import { createSender, type Receiver, type Sent, saturate, sendAtRate } from './traffic.ts';

export interface HookyardFigures {
  /** Deliveries per second, saturated. */
  perSecond: number;
  /** Per delivery, while saturated. */
  cost: {
    cpuMs: { worker: number; api: number; temporal: number; postgres: number };
    hookyardCommits: number;
    temporalCommits: number;
    walBytes: number;
  };
  memoryMiB: { worker: number; api: number };
  /** ms, at half load. */
  half: { perSecond: number; ack: Percentiles; endToEnd: Percentiles };
}
type Percentiles = { p50: number; p95: number; p99: number };

const SECRET = 'the secret of the bench';
const API_KEY = 'whr_bench_bench_bench_bench_bench';
// Webhooks sent and not yet delivered while saturating: enough to keep every slot of one destination busy.
const OUTSTANDING = 100;
const ARRIVAL_DEADLINE_MS = 30_000;

interface Service {
  api: RunningChild;
  worker: RunningChild;
  pool: Pool;
  webhookUrl: string;
}

export async function measureHookyard(
  stack: Stack,
  receiver: Receiver,
  options: { body: string; warmUpSeconds: number; seconds: number },
): Promise<HookyardFigures> {
  const service = await startService(stack, receiver.url);
  const sender = createSender(service.webhookUrl, SECRET, options.body);
  try {
    let before = await snapshot(stack, service);
    let receivedBefore = 0;
    const perSecond = await saturate(sender.send, receiver, {
      outstanding: OUTSTANDING,
      ...options,
      atStart: async () => {
        before = await snapshot(stack, service);
        receivedBefore = receiver.received();
      },
    });
    const after = await snapshot(stack, service);
    const cost = costPerDelivery(before, after, receiver.received() - receivedBefore);
    const memoryMiB = { worker: residentMiB(service.worker.pid), api: residentMiB(service.api.pid) };
    await drained(service.pool);
    const half = await atHalfLoad(sender.send, receiver, perSecond / 2, options.seconds);
    return { perSecond, cost, memoryMiB, half };
  } finally {
    await sender.close();
    await service.api.stop();
    await service.worker.stop();
    await service.pool.end();
  }
}

async function atHalfLoad(send: () => Promise<Sent>, receiver: Receiver, perSecond: number, seconds: number) {
  const sent = await sendAtRate(send, perSecond, seconds);
  const until = performance.now() + ARRIVAL_DEADLINE_MS;
  while (sent.some((event) => !receiver.arrivals.has(event.eventId))) {
    if (performance.now() > until) throw new Error('an acknowledged event did not arrive');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    perSecond,
    ack: percentiles(sent.map((event) => event.ack)),
    endToEnd: percentiles(sent.map((event) => (receiver.arrivals.get(event.eventId) ?? Number.NaN) - event.sentAt)),
  };
}

/** Waits until nothing of the saturation is left to deliver: it would stand before the deliveries at half load. */
async function drained(pool: Pool): Promise<void> {
  const until = performance.now() + ARRIVAL_DEADLINE_MS;
  for (;;) {
    const { rows } = await pool.query<{ waiting: number }>('select count(*)::int as waiting from outbox');
    if (rows[0]?.waiting === 0) return;
    if (performance.now() > until) throw new Error(`${rows[0]?.waiting} deliveries are still waiting`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

type Snapshot = DatabaseCounters & { worker: number; api: number; temporal: number; postgres: number };

async function snapshot(stack: Stack, service: Service): Promise<Snapshot> {
  return {
    worker: cpuMs(service.worker.pid),
    api: cpuMs(service.api.pid),
    temporal: cpuMs(stack.temporal?.pid ?? 0),
    postgres: treeCpuMs(stack.postgres?.pid ?? 0),
    ...(await databaseCounters(service.pool)),
  };
}

function costPerDelivery(before: Snapshot, after: Snapshot, deliveries: number): HookyardFigures['cost'] {
  const per = (name: keyof Snapshot) => (after[name] - before[name]) / deliveries;
  return {
    cpuMs: { worker: per('worker'), api: per('api'), temporal: per('temporal'), postgres: per('postgres') },
    hookyardCommits: per('hookyardCommits'),
    temporalCommits: per('temporalCommits'),
    walBytes: per('walBytes'),
  };
}

async function startService(stack: Stack, destinationUrl: string): Promise<Service> {
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
  };
  await prepareDatabase(readSettings(env), stack.databaseUrl);
  const [api, worker] = await Promise.all([startProcess('api/main.ts', env), startProcess('worker/main.ts', env)]);
  const base = api.ready.url ?? '';
  const { organization } = (await call(base, 'GET', '/api/auth/me')) as { organization: { id: string } };
  const slug = `bench-${Date.now()}`;
  const source = (await call(base, 'POST', `/api/organizations/${organization.id}/sources`, {
    name: 'bench',
    slug,
    verificationConfig: { type: 'github', secret: SECRET },
  })) as { id: string };
  const destination = (await call(base, 'POST', '/api/destinations', { name: slug, url: destinationUrl })) as {
    id: string;
  };
  await call(base, 'POST', '/api/routes', { name: slug, sourceId: source.id, destinationIds: [destination.id] });
  const pool = createPool(stack.databaseUrl, { max: 1, statementTimeoutMs: 10_000, onError: () => {} });
  return { api, worker, pool, webhookUrl: `${base}/ingest/default/${slug}` };
}

async function call(base: string, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(base + path, {
    method,
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}
