// npm run bench -- beside --checkout FOLDER [--seconds 60 --rounds 4]: what a delivery costs in this checkout beside
// another one, such as a clone of the previous version with its packages installed. Each runs on a stack of its own,
// with as much data. They are saturated in short turns, and what counts is the ratio of two turns that follow each
// other, so a machine that changes its speed, and a database that grows, change both sides alike.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Stack } from '../local/stack.ts';
import { barLine } from './support/bars.ts';
import { totalCpuMs } from './support/cost.ts';
import { type RunningLane, startLane } from './support/lane.ts';
import { median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { PROJECT } from './support/processes.ts';
import type { Receiver } from './support/traffic.ts';
import { undisturbed } from './support/undisturbed.ts';

const MOST_PERCENT = 3;
const TURN_SECONDS = 5;
// Until as much is under way as before the break.
const TURN_WARM_UP_SECONDS = 2;
const WARM_UP_SECONDS = 15;

/** CPU per delivery in two turns that follow each other, ms. */
interface Pair {
  before: number;
  here: number;
}

/**
 * Measures and prints a table. In each round the processes are new and the sides change their stacks, so that neither
 * compiled code nor a database that is laid out better stays with one of them.
 * @throws Error when there is no such checkout
 */
export async function measureBeside(stacks: [Stack, Stack], receiver: Receiver, options: BenchOptions): Promise<void> {
  const folder = resolve(options.checkout);
  if (options.checkout === '' || !existsSync(join(folder, 'node_modules')))
    throw new Error('--checkout must be a folder with another checkout and its installed packages (npm ci)');
  const rounds: Pair[][] = [];
  for (let number = 1; number <= options.rounds; number += 1) {
    const label = `round ${number} of ${options.rounds}`;
    console.log(label);
    const [first, second] = number % 2 === 1 ? stacks : ([stacks[1], stacks[0]] as const);
    rounds.push(await undisturbed(label, options, () => measureRound([first, second], receiver, folder, options)));
  }
  console.log(report(rounds, folder));
}

async function measureRound(
  [first, second]: readonly [Stack, Stack],
  receiver: Receiver,
  folder: string,
  { body, seconds }: BenchOptions,
): Promise<Pair[]> {
  const settings = { OTEL_EXPORTER_PROMETHEUS_PORT: '0' };
  const start = (stack: Stack, checkout: string) =>
    startLane(stack, receiver, { lane: 'express', body, own: { api: settings, worker: settings, folder: checkout } });
  const before = await start(first, folder);
  const here = await start(second, PROJECT);
  try {
    for (const lane of [before, here]) suspend(lane);
    // Not longer than what is measured, so that a try is short.
    const warmUp = { warmUpSeconds: 0, seconds: Math.min(WARM_UP_SECONDS, seconds) };
    await takeTurn(before, warmUp);
    await takeTurn(here, warmUp);
    const count = Math.ceil(seconds / TURN_SECONDS);
    const turn = { warmUpSeconds: TURN_WARM_UP_SECONDS, seconds: seconds / count };
    const pairs: Pair[] = [];
    for (let number = 0; number < count; number += 1) {
      // The one that was last is the first of the next pair.
      if (number % 2 === 0) pairs.push({ before: await takeTurn(before, turn), here: await takeTurn(here, turn) });
      else pairs.push({ here: await takeTurn(here, turn), before: await takeTurn(before, turn) });
    }
    return pairs;
  } finally {
    await before.stop();
    await here.stop();
  }
}

/** Lets one of the two run while the other waits. @returns CPU per delivery, ms */
async function takeTurn(lane: RunningLane, turn: { warmUpSeconds: number; seconds: number }): Promise<number> {
  for (const process of lane.processes) process.resume();
  try {
    return totalCpuMs((await lane.saturate(turn)).cost);
  } finally {
    suspend(lane);
  }
}

function suspend(lane: RunningLane): void {
  for (const process of lane.processes) process.suspend();
}

function report(rounds: Pair[][], folder: string): string {
  const percent = ({ before, here }: Pair) => (here / before - 1) * 100;
  const pairs = rounds.flat();
  const sorted = pairs.map(percent).sort((a, b) => a - b);
  const quartile = (share: number) => (sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN).toFixed(2);
  const of = (pick: (pair: Pair) => number) => median(pairs.map(pick)).toFixed(3);
  const medians = rounds.map((round) => median(round.map(percent)));
  return [
    '',
    `lane express, saturated; medians of ${pairs.length} pairs of runs in ${rounds.length} rounds`,
    `  CPU per delivery in ${folder}   ${of(({ before }) => before)} ms`,
    `  in this checkout   ${of(({ here }) => here)} ms`,
    `  difference         ${median(sorted).toFixed(2)} %, half of the pairs ${quartile(0.25)} to ${quartile(0.75)} %`,
    barLine({
      what: 'CPU per delivery, increase over the other checkout',
      unit: ' %',
      atMost: MOST_PERCENT,
      value: median(sorted),
      rounds: medians,
    }),
    '',
  ].join('\n');
}
