// npm run bench -- fleet [--workers 1,4,16,50 --api 2 --rate 400 --seconds 20]: whether a delivery costs the same with
// many workers as with one. The load is the same for every size of the fleet, and everything shares this machine: what
// is asked is not how much more a fleet delivers, but what its processes cost each other through PostgreSQL and
// Temporal.
import { setTimeout as delay } from 'node:timers/promises';
import { createPool, type Pool } from '../db/connections/pool.ts';
import type { Stack } from '../local/stack.ts';
import { type Bar, barLine } from './support/bars.ts';
import { type Cost, costPer, readCounters, totalCpuMs } from './support/cost.ts';
import { percentiles, residentMiB } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { type RunningChild, startProcess } from './support/processes.ts';
import { createPipe, drained, install, SECRET } from './support/service.ts';
import { allArrived, createSender, type Percentiles, type Receiver, type Sent, sendAtRate } from './support/traffic.ts';
import { undisturbed } from './support/undisturbed.ts';

/** What a delivery may cost, as a multiple of what it costs with the smallest fleet. */
const COST_BAR = 1.3;
// Sources, each with its destination: one alone would be the queue that all workers stand at.
const PIPES = 20;
const WARM_UP_SECONDS = 15;
const IDLE_SECONDS = 5;
// A relay joins the others when it renews its leases, and gives shards up when it sees a new one.
const SETTLE_MS = 8000;
// More would take longer than a start may, on a machine with few cores.
const START_AT_A_TIME = 2;
// The smallest pools that keep up with one process's part of the load.
const API_SETTINGS = { HOOKYARD_DATABASE_CONNECTIONS: '12' };
const WORKER_SETTINGS = { HOOKYARD_DATABASE_CONNECTIONS: '8' };
// What the servers and the bench need of max_connections, and more than processes with small pools open.
const CONNECTIONS_BESIDE = 220;
const CONNECTIONS_PER_PROCESS = 24;

/** What a fleet of one size did with the load. */
interface FleetFigures {
  workers: number;
  deliveredPerSecond: number;
  /** Per delivery. */
  cost: Cost;
  /** Of the fleet that does nothing, per second. */
  idle: Cost;
  ack: Percentiles;
  endToEnd: Percentiles;
  relaysWithoutShards: number;
  /** MiB, mean. */
  workerMiB: number;
}

/** Settings of the PostgreSQL of this bench. */
export function fleetPostgres({ workers, api }: BenchOptions): Record<string, string> {
  return { max_connections: String(CONNECTIONS_BESIDE + CONNECTIONS_PER_PROCESS * (Math.max(...workers) + api)) };
}

/** Measures fleets that grow from size to size, and prints a table. */
export async function measureFleet(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const { env, organizationId, organizationSlug, callerOf } = await install(stack, { HOOKYARD_LANE: 'express' });
  const apis = await startMany('api/main.ts', options.api, { ...env, ...API_SETTINGS });
  const workers: RunningChild[] = [];
  const pool = createPool(stack.databaseUrl, { max: 2, statementTimeoutMs: 10_000, onError: () => {} });
  const urls = apis.map(({ ready: { url = '' } }) => url);
  const [url = ''] = urls;
  const paths: string[] = [];
  for (let number = 0; number < PIPES; number += 1) {
    const entrance = { url, organizationId, organizationSlug, call: callerOf(url) };
    const { webhookUrl } = await createPipe(entrance, `${receiver.url}/${number}`);
    paths.push(new URL(webhookUrl).pathname);
  }
  const senders = urls.map((base) =>
    createSender(
      paths.map((path) => base + path),
      SECRET,
      options.body,
    ),
  );
  let turn = 0;
  const fleet: Fleet = {
    pool,
    workers,
    counters: () => readCounters(stack, pool, { api: pidsOf(apis), worker: pidsOf(workers) }),
    send: () => (senders[turn++ % senders.length] as (typeof senders)[number]).send(),
  };
  const sizes: FleetFigures[] = [];
  try {
    for (const count of options.workers.toSorted((a, b) => a - b)) {
      const label = `${count} workers`;
      console.log(`${label}: started, then ${options.rate} webhooks per second for ${options.seconds} s`);
      workers.push(...(await startMany('worker/main.ts', count - workers.length, { ...env, ...WORKER_SETTINGS })));
      await delay(SETTLE_MS);
      sizes.push(await undisturbed(label, options, () => measureSize(fleet, receiver, options)));
    }
  } finally {
    await Promise.all(senders.map((sender) => sender.close()));
    await Promise.all([...apis, ...workers].map((child) => child.stop()));
    await pool.end();
  }
  console.log(report(sizes, options));
}

interface Fleet {
  pool: Pool;
  workers: RunningChild[];
  /** What all its processes and the servers have used so far. */
  counters(): Promise<Cost>;
  /** One webhook, to every API process and every source in turn. */
  send(): Promise<Sent>;
}

const pidsOf = (children: RunningChild[]) => children.map(({ pid }) => pid);

async function startMany(file: string, count: number, env: Record<string, string>): Promise<RunningChild[]> {
  const started: RunningChild[] = [];
  while (started.length < count) {
    const next = Math.min(START_AT_A_TIME, count - started.length);
    started.push(...(await Promise.all(Array.from({ length: next }, () => startProcess(file, env)))));
  }
  return started;
}

async function measureSize(fleet: Fleet, receiver: Receiver, { rate, seconds }: BenchOptions): Promise<FleetFigures> {
  const { pool, workers } = fleet;
  await sendAll(fleet, receiver, rate, WARM_UP_SECONDS);
  const idleBefore = await fleet.counters();
  await delay(IDLE_SECONDS * 1000);
  const idle = costPer(IDLE_SECONDS, idleBefore, await fleet.counters());
  const before = await fleet.counters();
  const startedAt = performance.now();
  const sent = await sendAll(fleet, receiver, rate, seconds);
  const elapsed = (performance.now() - startedAt) / 1000;
  const cost = costPer(sent.length, before, await fleet.counters());
  const { rows } = await pool.query<{ count: number }>(
    'select count(*)::int as count from workers where name not in (select owner from shards where owner is not null)',
  );
  return {
    workers: workers.length,
    deliveredPerSecond: sent.length / elapsed,
    cost,
    idle,
    ack: percentiles(sent.map(({ ack }) => ack)),
    endToEnd: percentiles(sent.map(({ eventId, sentAt }) => (receiver.arrivals.get(eventId) ?? Number.NaN) - sentAt)),
    relaysWithoutShards: rows[0]?.count ?? Number.NaN,
    workerMiB: workers.reduce((sum, { pid }) => sum + residentMiB(pid), 0) / workers.length,
  };
}

/** Sends, and waits until all of it has arrived and is recorded. */
async function sendAll(fleet: Fleet, receiver: Receiver, rate: number, seconds: number): Promise<Sent[]> {
  receiver.arrivals.clear();
  const sent = await sendAtRate(fleet.send, rate, seconds);
  await allArrived(
    receiver,
    sent.map(({ eventId }) => eventId),
  );
  await drained(fleet);
  return sent;
}

function report(sizes: FleetFigures[], { api, rate, seconds }: BenchOptions): string {
  const row = (what: string, pick: (figures: FleetFigures) => number, decimals = 2) =>
    `${what.padEnd(40)}${sizes.map((figures) => pick(figures).toFixed(decimals).padStart(10)).join('')}`;
  const [smallest] = sizes;
  const bars = sizes.flatMap((size): Bar[] => [
    ...(smallest && size !== smallest
      ? [
          {
            what: `CPU per delivery, ${size.workers} : ${smallest.workers} workers`,
            unit: '',
            atMost: COST_BAR,
            value: totalCpuMs(size.cost) / totalCpuMs(smallest.cost),
          },
        ]
      : []),
    { what: `${size.workers} workers: relays without shards`, unit: '', atMost: 0, value: size.relaysWithoutShards },
  ]);
  return [
    '',
    `lane express, ${api} API processes, ${rate} webhooks per second for ${seconds} s`,
    row('workers', ({ workers }) => workers, 0),
    row('delivered per second', ({ deliveredPerSecond }) => deliveredPerSecond, 1),
    row('CPU per delivery, ms', ({ cost }) => totalCpuMs(cost)),
    row('  API', ({ cost }) => cost.cpuMs.api),
    row('  worker', ({ cost }) => cost.cpuMs.worker),
    row('  Temporal', ({ cost }) => cost.cpuMs.temporal),
    row('  PostgreSQL', ({ cost }) => cost.cpuMs.postgres),
    row('CPU of the idle fleet, ms per second', ({ idle }) => totalCpuMs(idle), 0),
    row('commits per delivery', ({ cost }) => cost.hookyardCommits),
    row('WAL per delivery, KiB', ({ cost }) => cost.walBytes / 1024, 1),
    row('acknowledged p99, ms', ({ ack }) => ack.p99, 1),
    row('end to end p99, ms', ({ endToEnd }) => endToEnd.p99, 1),
    row('memory per worker, MiB', ({ workerMiB }) => workerMiB, 0),
    '',
    ...bars.map(barLine),
    '',
  ].join('\n');
}
