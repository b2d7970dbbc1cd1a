// npm run bench [-- --lane express --rates 400,100 --seconds 20 --rounds 3]: what a delivery costs and how late it is,
// saturated and at rates, in the lanes `adaptive` and `express`, or in the one that is named.
import { cpus } from 'node:os';
import type { LaneSetting } from '../core/delivery/delivery.ts';
import type { Stack } from '../local/stack.ts';
import { type Cost, totalCpuMs } from './support/cost.ts';
import { type Latencies, type Phase, startLane } from './support/lane.ts';
import { median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import type { Memory } from './support/service.ts';
import type { Receiver } from './support/traffic.ts';
import { undisturbed } from './support/undisturbed.ts';

const LANES: LaneSetting[] = ['adaptive', 'express'];
// A process that was just started runs uncompiled code for a while.
const WARM_UP_SECONDS = 15;
const TURN_WARM_UP_SECONDS = 2;

/** A column of the table: one phase in all rounds. */
interface Column {
  title: string;
  phases: (Phase & Partial<Latencies>)[];
  memory: Memory[];
}

/** Measures and prints a table. */
export async function measureDeliver(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const columns: Column[] = [];
  for (const lane of options.lane ? [options.lane] : LANES) {
    columns.push(...(await measureLane(stack, receiver, lane, options)));
  }
  const { rounds, seconds } = options;
  console.log(`\n${cpus().length} cores; medians of ${rounds} rounds of ${seconds} s`);
  console.log(`${tableOf(columns)}\n`);
}

async function measureLane(
  stack: Stack,
  receiver: Receiver,
  lane: LaneSetting,
  options: BenchOptions,
): Promise<Column[]> {
  const { seconds, rates } = options;
  const titles = ['saturated', ...rates.map((rate) => `${rate}/s`)];
  const columns = titles.map((title): Column => ({ title: `${lane} ${title}`, phases: [], memory: [] }));
  const running = await startLane(stack, receiver, { lane, body: options.body });
  try {
    console.log(`${lane}: warming up`);
    await running.saturate({ warmUpSeconds: 0, seconds: WARM_UP_SECONDS });
    const measureRound = async () => {
      const phases: Column['phases'] = [await running.saturate({ warmUpSeconds: TURN_WARM_UP_SECONDS, seconds })];
      const memory = [running.memoryMiB()];
      for (const rate of rates) {
        phases.push(await running.atRate(rate, seconds));
        memory.push(running.memoryMiB());
      }
      return { phases, memory };
    };
    for (let number = 1; number <= options.rounds; number += 1) {
      const label = `${lane}: round ${number} of ${options.rounds}`;
      console.log(`${label}, ${seconds} s each of ${titles.join(', ')}`);
      const { phases, memory } = await undisturbed(label, options, measureRound);
      for (const [at, column] of columns.entries()) {
        column.phases.push(...phases.slice(at, at + 1));
        column.memory.push(...memory.slice(at, at + 1));
      }
    }
  } finally {
    await running.stop();
  }
  return columns;
}

function tableOf(columns: Column[]): string {
  const row = (what: string, cell: (column: Column) => string) =>
    `${what.padEnd(32)}${columns.map((column) => cell(column).padStart(19)).join('')}`.trimEnd();
  const figure = (what: string, decimals: number, pick: (phase: Phase) => number) =>
    row(what, ({ phases }) => median(phases.map(pick)).toFixed(decimals));
  const cost = (what: string, decimals: number, pick: (cost: Cost) => number) =>
    figure(what, decimals, (phase) => pick(phase.cost));
  const latency = (what: string, which: keyof Latencies) =>
    row(what, ({ phases }) => {
      const measured = phases.flatMap((phase) => phase[which] ?? []);
      if (measured.length === 0) return '-';
      return (['p50', 'p99'] as const).map((rank) => median(measured.map((each) => each[rank])).toFixed(1)).join(' / ');
    });
  const memory = (what: string, pick: (memory: Memory) => number) =>
    row(what, (column) => median(column.memory.map(pick)).toFixed(0));
  return [
    row('', ({ title }) => title),
    figure('deliveries per second', 0, ({ perSecond }) => perSecond),
    cost('CPU per delivery, ms', 2, totalCpuMs),
    cost('  API', 2, ({ cpuMs }) => cpuMs.api),
    cost('  worker', 2, ({ cpuMs }) => cpuMs.worker),
    cost('  Temporal', 2, ({ cpuMs }) => cpuMs.temporal),
    cost('  PostgreSQL', 2, ({ cpuMs }) => cpuMs.postgres),
    cost('  also: load and receiver', 2, ({ loadCpuMs }) => loadCpuMs),
    cost('commits per delivery', 2, ({ hookyardCommits, temporalCommits }) => hookyardCommits + temporalCommits),
    cost('WAL per delivery, KiB', 1, ({ walBytes }) => walBytes / 1024),
    latency('acknowledged p50 / p99, ms', 'ack'),
    latency('end to end p50 / p99, ms', 'endToEnd'),
    memory('API memory, MiB', ({ api }) => api),
    memory('worker memory, MiB', ({ worker }) => worker),
  ].join('\n');
}
