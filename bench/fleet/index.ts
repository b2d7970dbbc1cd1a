// npm run bench -- fleet [--workers 1,4,16,50 --api 2 --rate 400 --seconds 20 --rounds 1]: whether a delivery costs the
// same with many workers as with one. The load is the same for every size of the fleet, and everything shares this machine: what is
// asked is not how much more a fleet delivers, but what its processes cost each other through PostgreSQL and Temporal.
import { freemem } from 'node:os';
import type { Stack } from '../../local/stack.ts';
import { barLine } from '../support/bars.ts';
import { type Cost, costPer } from '../support/cost.ts';
import { percentiles } from '../support/measure.ts';
import type { BenchOptions } from '../support/options.ts';
import { SECRET } from '../support/service.ts';
import {
  allArrived,
  createSender,
  type Percentiles,
  type Receiver,
  type Sent,
  sendAtRate,
} from '../support/traffic.ts';
import { undisturbed } from '../support/undisturbed.ts';
import { delay } from '../support/wait.ts';
import { createPaths, type Fleet, startFleet } from './processes.ts';
import { barsOf, report } from './report.ts';
import { prepareWatch, type Seen, watchDatabase } from './watch.ts';

/** What a fleet of one size did with the load. */
export interface FleetFigures {
  workers: number;
  deliveredPerSecond: number;
  /** Per delivery. */
  cost: Cost;
  /** Of the fleet that does nothing, per second. */
  idle: Cost;
  ack: Percentiles;
  endToEnd: Percentiles;
  seconds: number;
  seen: Seen;
  /** MiB, mean. */
  workerMiB: number;
}

// Sources, each with its destination: one alone would be the queue that all workers stand at.
const PIPES = 20;
const WARM_UP_SECONDS = 15;
const IDLE_SECONDS = 5;
// A relay joins the others when it renews its leases, and gives shards up when it sees a new one.
const SETTLE_MS = 8000;

// What the servers and the bench need of max_connections, and more than processes with small pools open.
const CONNECTIONS_BESIDE = 220;
const CONNECTIONS_PER_PROCESS = 24;

const MIB = 1024 * 1024;
// What a worker takes at least, and what stays free for everything else on this machine.
const WORKER_MIB = 200;
const RESERVE_MIB = 1024;

/** Settings of the PostgreSQL of this bench. */
export function fleetPostgres({ workers, api }: BenchOptions): Record<string, string> {
  const connections = CONNECTIONS_BESIDE + CONNECTIONS_PER_PROCESS * (Math.max(...workers) + api);
  return { max_connections: String(connections), shared_preload_libraries: 'pg_stat_statements' };
}

export async function measureFleet(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const rounds: FleetFigures[][] = [];
  for (let number = 1; number <= options.rounds; number += 1) {
    rounds.push(await measureSizes(stack, receiver, options, `round ${number} of ${options.rounds}`));
  }
  const bars = barsOf(rounds, options.workers.length);
  console.log(report(rounds, bars.map(barLine), options));
}

/** The same fleet, which grows from size to size. */
async function measureSizes(
  stack: Stack,
  receiver: Receiver,
  options: BenchOptions,
  label: string,
): Promise<FleetFigures[]> {
  const fleet = await startFleet(stack, options.api);
  const all: FleetFigures[] = [];
  let load: Load | undefined;
  try {
    await prepareWatch(fleet.pool);
    load = startLoad(fleet, await createPaths(fleet, receiver.url, PIPES), options.body);
    const { send } = load;
    const freeAtFirst = freemem() / MIB;
    for (const workers of options.workers.toSorted((a, b) => a - b)) {
      if (!hasMemory(fleet, workers, freeAtFirst)) break;
      const name = `${label}, ${workers} workers`;
      console.log(`${name}: started, then ${options.rate} webhooks a second for ${options.seconds} s`);
      try {
        await fleet.growTo(workers);
        await delay(SETTLE_MS);
        all.push(await undisturbed(name, options, () => measureSize(fleet, receiver, send, options)));
      } catch (error) {
        // The sizes before it are worth their report. More workers would be too many, too.
        console.log(`${name}: not measured: ${error instanceof Error ? error.message : String(error)}`);
        break;
      }
    }
    return all;
  } finally {
    await load?.close();
    await fleet.stop();
  }
}

/** @param freeAtFirst MiB that were free without workers: what each has taken since, its connections included, is known by that */
function hasMemory(fleet: Fleet, workers: number, freeAtFirst: number): boolean {
  const running = fleet.workerCount();
  const each = Math.max(WORKER_MIB, running === 0 ? 0 : (freeAtFirst - freemem() / MIB) / running);
  const needed = (workers - running) * each;
  const free = freemem() / MIB - RESERVE_MIB;
  if (needed <= free) return true;
  console.log(`${workers} workers are left out: ${needed.toFixed(0)} MiB are needed, ${free.toFixed(0)} MiB are free`);
  return false;
}

interface Load {
  send(): Promise<Sent>;
  close(): Promise<unknown>;
}

/** Webhooks to every API process and every source in turn. */
function startLoad(fleet: Fleet, paths: string[], body: string): Load {
  const senders = fleet.entrances.map(({ url }) =>
    createSender(
      paths.map((path) => url + path),
      SECRET,
      body,
    ),
  );
  let turn = 0;
  return {
    send() {
      const sender = senders[turn++ % senders.length];
      if (!sender) throw new Error('the fleet has no API process');
      return sender.send();
    },
    close: () => Promise.all(senders.map((sender) => sender.close())),
  };
}

async function measureSize(
  fleet: Fleet,
  receiver: Receiver,
  send: () => Promise<Sent>,
  { rate, seconds }: BenchOptions,
): Promise<FleetFigures> {
  await sendAll(fleet, receiver, send, rate, WARM_UP_SECONDS);
  const idleBefore = await fleet.counters();
  await delay(IDLE_SECONDS * 1000);
  const idle = costPer(IDLE_SECONDS, idleBefore, await fleet.counters());
  const endWatch = await watchDatabase(fleet.pool);
  const before = await fleet.counters();
  const startedAt = performance.now();
  const sent = await sendAll(fleet, receiver, send, rate, seconds);
  const elapsed = (performance.now() - startedAt) / 1000;
  const cost = costPer(sent.length, before, await fleet.counters());
  return {
    workers: fleet.workerCount(),
    deliveredPerSecond: sent.length / elapsed,
    cost,
    idle,
    ack: percentiles(sent.map(({ ack }) => ack)),
    endToEnd: percentiles(sent.map(({ eventId, sentAt }) => (receiver.arrivals.get(eventId) ?? Number.NaN) - sentAt)),
    seconds: elapsed,
    seen: await endWatch(),
    workerMiB: fleet.workerMiB(),
  };
}

/** Sends, and waits until all of it has arrived and is recorded. */
async function sendAll(
  fleet: Fleet,
  receiver: Receiver,
  send: () => Promise<Sent>,
  rate: number,
  seconds: number,
): Promise<Sent[]> {
  receiver.arrivals.clear();
  const sent = await sendAtRate(send, rate, seconds);
  await allArrived(
    receiver,
    sent.map(({ eventId }) => eventId),
  );
  await fleet.drained();
  return sent;
}
