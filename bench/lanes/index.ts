// npm run bench [-- --seconds 20 --rounds 3 --save]: what a delivery costs in each of the two lanes, beside the limit of that
// lane: for the lane `workflow` what Temporal costs by itself, for `express` what one durable insert and one request cost.
//
// A lane and its limit are saturated in turns of a few seconds, and each ratio is the median of the rounds' own: a machine
// that changes its speed changes both.
import type { Lane } from '../../core/lane.ts';
import type { Stack } from '../../local/stack.ts';
import { type Limit, startBarePipeline, startBareWorkflow } from '../bare/measure.ts';
import type { BenchOptions } from '../support/options.ts';
import { saveResults } from '../support/save.ts';
import type { Receiver } from '../support/traffic.ts';
import { type Saturated, saturateInTurn } from './in-turn.ts';
import { type LaneFigures, OUTSTANDING, startLane } from './lane.ts';
import { plotLanes } from './plot.ts';
import { barsOf, report } from './report.ts';

export interface Round {
  bareWorkflow: Saturated;
  workflow: LaneFigures;
  barePipeline: Saturated;
  express: LaneFigures;
}

const BARE_WORKFLOWS_IN_FLIGHT = 50;
// A process that was just started runs uncompiled code for a while, most of all where it makes few deliveries a second.
const WARM_UP_SECONDS = 15;

/** Measures, prints the table and the bars. */
export async function measureLanes(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const rounds: Round[] = [];
  for (let number = 1; number <= options.rounds; number += 1) {
    rounds.push(await measureRound(stack, receiver, options, `round ${number} of ${options.rounds}`));
  }
  const bars = barsOf(rounds);
  console.log(report(rounds, bars, options.seconds));
  if (options.save) saveResults('lanes', { seconds: options.seconds, bars, rounds }, plotLanes(rounds));
}

async function measureRound(stack: Stack, receiver: Receiver, options: BenchOptions, label: string): Promise<Round> {
  const { body } = options;
  const common = { stack, receiver, options, label };
  const [bareWorkflow, workflow] = await measurePair({
    ...common,
    lane: 'workflow',
    limitName: 'the bare workflow',
    limit: await startBareWorkflow(stack, { body, url: receiver.url, inFlight: BARE_WORKFLOWS_IN_FLIGHT }),
  });
  const [barePipeline, express] = await measurePair({
    ...common,
    lane: 'express',
    limitName: 'the bare pipeline',
    limit: await startBarePipeline(stack, receiver, { body, outstanding: OUTSTANDING.express }),
  });
  return { bareWorkflow, workflow, barePipeline, express };
}

/** A lane and its limit in turn, then the latencies of the lane alone. */
async function measurePair(pair: {
  stack: Stack;
  receiver: Receiver;
  options: BenchOptions;
  label: string;
  lane: Lane;
  limitName: string;
  limit: Limit;
}): Promise<[limit: Saturated, lane: LaneFigures]> {
  const { stack, receiver, lane: name, limit } = pair;
  const { body, seconds } = pair.options;
  const lane = await startLane(stack, receiver, { lane: name, body });
  try {
    console.log(`${pair.label}: ${pair.limitName} and the lane ${name} in turn, ${seconds} s each`);
    const reached = await saturateInTurn({ limit, lane }, { warmUpSeconds: WARM_UP_SECONDS, seconds }).finally(() =>
      limit.stop(),
    );
    const memoryMiB = lane.memoryMiB();
    console.log(`${pair.label}: latencies of the lane ${name}, twice ${seconds} s`);
    const latencies = await lane.measureLatencies({ perSecond: reached.lane.perSecond, seconds });
    return [reached.limit, { ...reached.lane, memoryMiB, ...latencies }];
  } finally {
    await lane.stop();
  }
}
