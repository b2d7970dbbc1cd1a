// npm run bench [-- --seconds 20 --rounds 3]: what a delivery costs in each lane, beside the limit of that lane: for the lane
// `workflow` what Temporal costs by itself, for `express` what one durable insert and one request cost. The lane `adaptive`, which
// saturated is to do about what `express` does, is measured by itself right after that.
//
// A lane and its limit are saturated in turns of a few seconds, and each ratio is the median of the rounds' own: a machine
// that changes its speed changes both.
import type { Lane } from '../../core/delivery/lane.ts';
import type { Stack } from '../../local/stack.ts';
import { type Limit, startBarePipeline, startBareWorkflow } from '../bare/measure.ts';
import type { BenchOptions } from '../support/options.ts';
import type { Percentiles, Receiver } from '../support/traffic.ts';
import { type Saturated, saturateInTurn } from './in-turn.ts';
import { type LaneFigures, measureLane, OUTSTANDING, startLane } from './lane.ts';
import { barsOf, report } from './report.ts';
import { undisturbed } from '../support/undisturbed.ts';

export interface Round {
  bareWorkflow: Saturated;
  workflow: LaneFigures;
  /** With the time to its answers at half of that, ms. */
  barePipeline: Saturated & { ackAtHalf: Percentiles };
  express: LaneFigures;
  adaptive: LaneFigures;
}

const BARE_WORKFLOWS_IN_FLIGHT = 50;
// A process that was just started runs uncompiled code for a while, most of all where it makes few deliveries a second.
const WARM_UP_SECONDS = 15;

/** Measures, prints the table and the bars. */
export async function measureLanes(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const rounds: Round[] = [];
  for (let number = 1; number <= options.rounds; number += 1) {
    const label = `round ${number} of ${options.rounds}`;
    rounds.push(await undisturbed(label, options, () => measureRound(stack, receiver, options, label)));
  }
  const bars = barsOf(rounds);
  console.log(report(rounds, bars, options.seconds));
}

async function measureRound(stack: Stack, receiver: Receiver, options: BenchOptions, label: string): Promise<Round> {
  const { body, seconds } = options;
  const common = { stack, receiver, options, label };
  const load = { body, url: receiver.url, inFlight: BARE_WORKFLOWS_IN_FLIGHT };
  const [bareWorkflow, workflow] = await measurePair(
    { ...common, lane: 'workflow', limitName: 'the bare workflow', limit: await startBareWorkflow(stack, load) },
    async () => ({}),
  );
  const pipeline = await startBarePipeline(stack, receiver, { body, outstanding: OUTSTANDING.express });
  const [barePipeline, express] = await measurePair(
    { ...common, lane: 'express', limitName: 'the bare pipeline', limit: pipeline },
    async ({ perSecond }) => ({ ackAtHalf: (await pipeline.measureAt(perSecond / 2, seconds)).ack }),
  );
  console.log(`${label}: the lane adaptive, ${seconds} s saturated, and latencies`);
  const times = { warmUpSeconds: WARM_UP_SECONDS, seconds };
  const adaptive = await measureLane(stack, receiver, { lane: 'adaptive', body, ...times });
  return { bareWorkflow, workflow, barePipeline, express, adaptive };
}

/** A lane and its limit in turn, then what else is asked of the limit, then the latencies of the lane alone. */
async function measurePair<More>(
  pair: {
    stack: Stack;
    receiver: Receiver;
    options: BenchOptions;
    label: string;
    lane: Lane;
    limitName: string;
    limit: Limit;
  },
  measureLimit: (reached: Saturated) => Promise<More>,
): Promise<[limit: Saturated & More, lane: LaneFigures]> {
  const { stack, receiver, lane: name, limit } = pair;
  const { body, seconds } = pair.options;
  const lane = await startLane(stack, receiver, { lane: name, body });
  try {
    console.log(`${pair.label}: ${pair.limitName} and the lane ${name} in turn, ${seconds} s each`);
    const reached = await saturateInTurn({ limit, lane }, { warmUpSeconds: WARM_UP_SECONDS, seconds });
    const memoryMiB = lane.memoryMiB();
    console.log(`${pair.label}: latencies, ${seconds} s each`);
    const more = await measureLimit(reached.limit);
    for (const process of limit.processes) process.suspend();
    const latencies = await lane.measureLatencies({ perSecond: reached.lane.perSecond, seconds });
    return [
      { ...reached.limit, ...more },
      { ...reached.lane, memoryMiB, ...latencies },
    ];
  } finally {
    await limit.stop();
    await lane.stop();
  }
}
