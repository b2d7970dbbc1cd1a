// npm run bench [-- --seconds 20 --rounds 3 --save]: what a delivery costs in each of the two lanes, beside the limit of that
// lane: for the lane `workflow` what Temporal costs by itself, for `express` what one durable insert and one request cost.
//
// The four are measured in turn, round by round, and each ratio is the median of the rounds' own: a machine that changes
// its speed changes all of a round.
import type { Stack } from '../../local/stack.ts';
import { type BareFigures, measureBarePipeline, measureBareWorkflow } from '../bare/measure.ts';
import type { BenchOptions } from '../support/options.ts';
import { saveResults } from '../support/save.ts';
import type { Receiver } from '../support/traffic.ts';
import { type LaneFigures, measureLane, OUTSTANDING } from './lane.ts';
import { plotLanes } from './plot.ts';
import { barsOf, report } from './report.ts';

export interface Round {
  bareWorkflow: BareFigures;
  workflow: LaneFigures;
  barePipeline: BareFigures;
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

async function measureRound(
  stack: Stack,
  receiver: Receiver,
  { body, seconds }: BenchOptions,
  label: string,
): Promise<Round> {
  const common = { body, seconds, warmUpSeconds: WARM_UP_SECONDS };
  console.log(`${label}: the bare workflow, ${seconds} s`);
  const order = { ...common, url: receiver.url, inFlight: BARE_WORKFLOWS_IN_FLIGHT };
  const bareWorkflow = await measureBareWorkflow(stack, order);
  console.log(`${label}: lane workflow, three times ${seconds} s`);
  const workflow = await measureLane(stack, receiver, { ...common, lane: 'workflow' });
  console.log(`${label}: the bare pipeline, ${seconds} s`);
  const barePipeline = await measureBarePipeline(stack, receiver, { ...common, outstanding: OUTSTANDING.express });
  console.log(`${label}: lane express, three times ${seconds} s`);
  const express = await measureLane(stack, receiver, { ...common, lane: 'express' });
  return { bareWorkflow, workflow, barePipeline, express };
}
