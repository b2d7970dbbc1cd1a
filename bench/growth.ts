// npm run bench -- growth [--deliveries 1000000,5000000,10000000 --routes 100,10000 --seconds 10 --rounds 2]: whether a service that
// has become large is as quick as an empty one. For each size there is a database of its own beside the empty one, on the same
// servers; each is measured in turn, and every figure is compared with the empty one's of the same round.
import pMap from 'p-map';
import type { Lane } from '../core/lane.ts';
import { createPool, type Pool } from '../db/connections/pool.ts';
import type { Stack } from '../local/stack.ts';
import { fillDatabase } from './history.ts';
import { type LaneFigures, measureLane } from './lanes/lane.ts';
import { type Bar, barLine } from './support/bars.ts';
import { totalCpuMs } from './support/cost.ts';
import { median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { saveResults } from './support/save.ts';
import { createDestination, createRoute, startService } from './support/service.ts';
import type { Receiver } from './support/traffic.ts';
import { undisturbed } from './support/undisturbed.ts';

/** No figure may be worse than the empty one's by more than this. */
const BAR = 1.15;
const WARM_UP_SECONDS = 5;
const FILL_TIMEOUT_MS = 3_600_000;
const CONCURRENT_CREATES = 8;

/** A way in which a service is large. */
interface Size {
  name: string;
  /** Makes it so. @returns the sources that take the load; by default one of its own */
  grow: (stack: Stack) => Promise<string[] | undefined>;
}

/** Webhooks per second at which latencies are compared: what small machines take in each lane without a backlog. */
const RATE: Record<Lane, number> = { workflow: 30, express: 100 };

/** What is compared: how many times worse a figure is than that of the empty service. */
const METRICS: [name: string, worse: (grown: LaneFigures, empty: LaneFigures) => number][] = [
  ['deliveries per second', (grown, empty) => empty.perSecond / grown.perSecond],
  ['CPU per delivery', (grown, empty) => totalCpuMs(grown.cost) / totalCpuMs(empty.cost)],
  ['WAL per delivery', (grown, empty) => grown.cost.walBytes / empty.cost.walBytes],
  ['acknowledged p50', (grown, empty) => grown.atFixedRate.ack.p50 / empty.atFixedRate.ack.p50],
  ['acknowledged p99', (grown, empty) => grown.atFixedRate.ack.p99 / empty.atFixedRate.ack.p99],
  ['end to end p50', (grown, empty) => grown.atFixedRate.endToEnd.p50 / empty.atFixedRate.endToEnd.p50],
  ['end to end p99', (grown, empty) => grown.atFixedRate.endToEnd.p99 / empty.atFixedRate.endToEnd.p99],
];

interface Pair {
  lane: Lane;
  empty: LaneFigures;
  grown: LaneFigures;
}

export async function measureGrowth(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const sizes = [
    ...options.routes.map((count) => withRoutes(count, receiver.url)),
    ...options.deliveries.map(withDeliveries),
  ];
  const results: { size: string; bars: Bar[]; pairs: Pair[] }[] = [];
  for (const size of sizes) {
    const pairs = await measureSize(stack, receiver, size, options);
    const bars = options.lanes.flatMap((lane) =>
      barsOf(
        lane,
        pairs.filter((pair) => pair.lane === lane),
      ),
    );
    console.log(['', `${size.name}, beside the empty service`, ...bars.map(barLine), ''].join('\n'));
    results.push({ size: size.name, bars, pairs });
  }
  if (options.save) saveResults('growth', { seconds: options.seconds, results });
}

function withRoutes(count: number, url: string): Size {
  return {
    name: `${count} routes`,
    async grow(stack) {
      const service = await startService(stack);
      const destinationId = await createDestination(service, url);
      const create = async () => (await createRoute(service, [destinationId])).path;
      const creations = Array.from({ length: count });
      return await pMap(creations, create, { concurrency: CONCURRENT_CREATES }).finally(() => service.stop());
    },
  };
}

function withDeliveries(count: number): Size {
  return {
    name: `${count} stored deliveries`,
    async grow(stack) {
      // Has migrated the database, and is not to run while it is filled.
      const { organizationId, stop } = await startService(stack);
      await stop();
      const pool = createPool(stack.databaseUrl, { max: 3, statementTimeoutMs: FILL_TIMEOUT_MS, onError: () => {} });
      try {
        await fillDatabase(pool, organizationId, { deliveries: count, nowMs: Date.now(), open: false });
        // Dirty pages of the fill must not be written during a measurement.
        await pool.query('checkpoint');
      } finally {
        await pool.end();
      }
      return undefined;
    },
  };
}

async function measureSize(stack: Stack, receiver: Receiver, size: Size, options: BenchOptions): Promise<Pair[]> {
  const { rounds, seconds, body, lanes } = options;
  const admin = createPool(stack.databaseUrl, { max: 1, statementTimeoutMs: FILL_TIMEOUT_MS, onError: () => {} });
  const grownStack = await createDatabase(admin, stack, 'hookyard_grown');
  const common = { body, seconds, warmUpSeconds: WARM_UP_SECONDS };
  const pairs: Pair[] = [];
  try {
    console.log(`making ${size.name}`);
    const paths = await size.grow(grownStack);
    for (let number = 1; number <= rounds; number += 1) {
      for (const lane of lanes) {
        const label = `${size.name}, round ${number} of ${rounds}, lane ${lane}`;
        console.log(`${label}: empty and grown, three times ${seconds} s each`);
        const measureEmpty = () => measureLane(stack, receiver, { ...common, lane, fixedRate: RATE[lane] });
        const measureGrown = () =>
          measureLane(grownStack, receiver, { ...common, lane, fixedRate: RATE[lane], ...(paths && { paths }) });
        const measurePair = async (): Promise<Pair> => {
          // Which of the two comes first changes with the round, because the second one finds warmer servers.
          if (number % 2 === 1) {
            const empty = await measureEmpty();
            return { lane, empty, grown: await measureGrown() };
          }
          const grown = await measureGrown();
          return { lane, empty: await measureEmpty(), grown };
        };
        pairs.push(await undisturbed(label, options, measurePair));
      }
    }
    return pairs;
  } finally {
    await admin.query('drop database hookyard_grown with (force)');
    await admin.end();
  }
}

/** @returns the same servers with another database */
async function createDatabase(admin: Pool, stack: Stack, name: string): Promise<Stack> {
  await admin.query(`create database ${name}`);
  const url = new URL(stack.databaseUrl);
  url.pathname = `/${name}`;
  return { ...stack, databaseUrl: url.href };
}

function barsOf(lane: Lane, pairs: Pair[]): Bar[] {
  return METRICS.map(([name, worse]) => {
    const ratios = pairs.map(({ grown, empty }) => worse(grown, empty));
    return { what: `${lane}: ${name}`, unit: '', atMost: BAR, value: median(ratios), rounds: ratios };
  });
}
