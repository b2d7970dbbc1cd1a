// npm run bench -- low-rate --lane express [--seconds 20 --rounds 3 --statements]: what a delivery costs where few come,
// so that every event is a group of its own: CPU by process, idle and at the rate, with latencies; for the lane `express` beside its
// bars, and beside the bare pipeline, its limit (bare/pipeline.ts), which says how fast the machine is. `--statements` also lists what
// PostgreSQL runs for it, which costs some CPU itself.
import { setTimeout as pause } from 'node:timers/promises';
import type { Lane } from '../core/delivery/lane.ts';
import type { Stack } from '../local/stack.ts';
import { type BarePipeline, startBarePipeline } from './bare/measure.ts';
import { FIXED_RATE, OUTSTANDING } from './lanes/lane.ts';
import { type Bar, barLine } from './support/bars.ts';
import { type Cost, costPer, totalCpuMs } from './support/cost.ts';
import { median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { type PostgresCpu, postgresCpuMs } from './support/postgres-cpu.ts';
import { createPipe, drained, SECRET, type Service, startService } from './support/service.ts';
import { listStatements, statementsOf } from './support/statement-counts.ts';
import { createSender, measureLatency, type Percentiles, type Receiver } from './support/traffic.ts';
import { undisturbed } from './support/undisturbed.ts';

const WARM_UP_SECONDS = 12;

// What a delivery may cost in the lane `express`, and how late it may be, ms: latencies are what they were when it cost more, on a
// machine that did nothing else.
const MOST_CPU_MS = 3.5;
const MOST_ACK = { p50: 3, p99: 6.5 };
const MOST_END_TO_END = { p50: 6, p99: 11.4 };

/** Divided by seconds when idle, by deliveries at the rate. */
interface Phase {
  cost: Cost;
  /** By what the processes of PostgreSQL are. */
  postgres: PostgresCpu;
}

interface Round {
  idle: Phase;
  busy: Phase;
  ack: Percentiles;
  endToEnd: Percentiles;
  /** At the same rate, right after that; undefined in other lanes than `express`. */
  bare: { ack: Percentiles; cost: Cost } | undefined;
}

/** Measures each lane, prints a table for each. */
export async function measureLowRate(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  if (options.statements) await listStatements(stack);
  for (const lane of options.lanes) {
    const service = await startService(stack, { HOOKYARD_LANE: lane });
    const load = { body: options.body, outstanding: OUTSTANDING.express };
    const limit = lane === 'express' ? await startBarePipeline(stack, receiver, load) : undefined;
    try {
      await measureLane(stack, { service, limit }, receiver, lane, options);
    } finally {
      await limit?.stop();
      await service.stop();
    }
  }
}

async function measureLane(
  stack: Stack,
  { service, limit }: { service: Service; limit: BarePipeline | undefined },
  receiver: Receiver,
  lane: Lane,
  options: BenchOptions,
): Promise<void> {
  const { body, rounds: count, seconds, statements } = options;
  const { webhookUrl } = await createPipe(service, receiver.url);
  const { send, close } = createSender(webhookUrl, SECRET, body);
  const latencies = async (forSeconds: number) => {
    const measured = await measureLatency(send, receiver, FIXED_RATE, forSeconds);
    await drained(service);
    return measured;
  };
  const phase = async <Result>(divisor: number, work: () => Promise<Result>): Promise<[Phase, Result]> => {
    const before = { cost: await service.counters(), postgres: postgresCpuMs(stack.postgres?.pid ?? 0) };
    const result = await work();
    const after = { cost: await service.counters(), postgres: postgresCpuMs(stack.postgres?.pid ?? 0) };
    const postgres = new Map(
      [...after.postgres].map(([what, ms]) => [what, (ms - (before.postgres.get(what) ?? 0)) / divisor]),
    );
    return [{ cost: costPer(divisor, before.cost, after.cost), postgres }, result];
  };
  console.log(`${lane}: warming up`);
  await latencies(WARM_UP_SECONDS);
  await limit?.measureAt(FIXED_RATE, WARM_UP_SECONDS);
  await service.pool.query('checkpoint');
  const rounds: Round[] = [];
  for (let number = 1; number <= count; number += 1) {
    const label = `${lane}: round ${number} of ${count}`;
    console.log(`${label}, ${seconds} s idle and ${seconds} s at ${FIXED_RATE}/s`);
    const round = async () => {
      const [idle] = await phase(seconds, () => pause(seconds * 1000));
      const [busy, { ack, endToEnd }] = await phase(seconds * FIXED_RATE, () => latencies(seconds));
      return { idle, busy, ack, endToEnd, bare: await limit?.measureAt(FIXED_RATE, seconds) };
    };
    rounds.push(await undisturbed(label, options, round));
  }
  const bars = lane === 'express' ? barsOf(rounds) : [];
  console.log(report(lane, rounds, bars, seconds));
  if (statements) {
    console.log('idle, per second');
    console.log(await statementsOf(service.pool, seconds, () => pause(seconds * 1000)));
    console.log('per delivery');
    console.log(await statementsOf(service.pool, seconds * FIXED_RATE, () => latencies(seconds)));
  }
  await close();
}

function barsOf(rounds: Round[]): Bar[] {
  const bar = (what: string, atMost: number, pick: (round: Round) => number): Bar => {
    const values = rounds.map(pick);
    return { what, unit: ' ms', atMost, value: median(values), rounds: values };
  };
  const ranks = ['p50', 'p99'] as const;
  return [
    bar(`CPU per delivery at ${FIXED_RATE}/s`, MOST_CPU_MS, ({ busy }) => totalCpuMs(busy.cost)),
    ...ranks.map((rank) => bar(`acknowledged ${rank}`, MOST_ACK[rank], ({ ack }) => ack[rank])),
    ...ranks.map((rank) => bar(`end to end ${rank}`, MOST_END_TO_END[rank], ({ endToEnd }) => endToEnd[rank])),
  ];
}

function report(lane: Lane, rounds: Round[], bars: Bar[], seconds: number): string {
  const of = (pick: (round: Round) => number) => median(rounds.map(pick));
  const line = (what: string, pick: (phase: Phase) => number) => {
    const [idle, busy] = [of((round) => pick(round.idle)), of((round) => pick(round.busy))];
    // What is left when that is taken away which runs without a delivery, too.
    const own = of((round) => pick(round.busy) - pick(round.idle) / FIXED_RATE);
    return `${what.padEnd(36)}${[idle, busy, own].map((value) => value.toFixed(2).padStart(16)).join('')}`;
  };
  const parts = [...new Set(rounds.flatMap((round) => [...round.idle.postgres.keys(), ...round.busy.postgres.keys()]))];
  const ranks = ({ p50, p95, p99 }: Percentiles) => [p50, p95, p99].map((ms) => ms.toFixed(1)).join(' / ');
  const all = (pick: (round: Round) => Percentiles): Percentiles => ({
    p50: of((round) => pick(round).p50),
    p95: of((round) => pick(round).p95),
    p99: of((round) => pick(round).p99),
  });
  const bare = rounds.flatMap(({ idle, busy, bare: its }) => {
    if (!its) return [];
    // Of the idle service beside it, what the servers do is counted.
    const { temporal, postgres } = idle.cost.cpuMs;
    const cpuMs = totalCpuMs(its.cost) - (temporal + postgres) / FIXED_RATE;
    return [{ cpuMs, times: (totalCpuMs(busy.cost) - totalCpuMs(idle.cost) / FIXED_RATE) / cpuMs, ack: its.ack }];
  });
  const totals = rounds.map((round) => totalCpuMs(round.busy.cost).toFixed(2)).join(', ');
  return [
    '',
    `lane ${lane} at ${FIXED_RATE}/s; medians of ${rounds.length} rounds of ${seconds} s`,
    `${''.padEnd(36)}${['idle, per s', 'per delivery', 'without idle'].map((head) => head.padStart(16)).join('')}`,
    `${line('CPU, ms', ({ cost }) => totalCpuMs(cost))}   (rounds: ${totals})`,
    line('  API', ({ cost }) => cost.cpuMs.api),
    line('  worker', ({ cost }) => cost.cpuMs.worker),
    line('  Temporal server', ({ cost }) => cost.cpuMs.temporal),
    line('  PostgreSQL', ({ cost }) => cost.cpuMs.postgres),
    ...parts.map((part) => line(`    ${part}`, ({ postgres }) => postgres.get(part) ?? 0)),
    line("commits, Hookyard's database", ({ cost }) => cost.hookyardCommits),
    line("commits, Temporal's databases", ({ cost }) => cost.temporalCommits),
    line('WAL, KiB', ({ cost }) => cost.walBytes / 1024),
    `acknowledged ${ranks(all(({ ack }) => ack))} ms, end to end ${ranks(all(({ endToEnd }) => endToEnd))} ms (p50 / p95 / p99)`,
    ...bareLines(bare),
    '',
    ...bars.map(barLine),
    '',
  ].join('\n');
}

function bareLines(rounds: { cpuMs: number; times: number; ack: Percentiles }[]): string[] {
  if (rounds.length === 0) return [];
  const of = (pick: (round: (typeof rounds)[number]) => number) => median(rounds.map(pick));
  const ack = [of((round) => round.ack.p50), of((round) => round.ack.p95), of((round) => round.ack.p99)];
  const times = `${of((round) => round.times).toFixed(2)} times that (rounds: ${rounds.map((round) => round.times.toFixed(2)).join(', ')})`;
  return [
    `the bare pipeline at the same rate: ${of((round) => round.cpuMs).toFixed(2)} ms without idle; the lane takes ${times}`,
    `  acknowledged ${ack.map((ms) => ms.toFixed(1)).join(' / ')} ms`,
  ];
}
