// What a feature costs, or a change: two services side by side, each on a stack of its own and with as much data, one without the feature and one
// with it. They are saturated in short turns, and what counts is the ratio of two turns that follow each other, so a machine that changes
// its speed, and a database that grows, change both sides alike.
import type { Stack } from '../../local/stack.ts';
import { type RunningLane, startLane } from '../lanes/lane.ts';
import { costPer, totalCpuMs } from './cost.ts';
import type { BenchOptions } from './options.ts';
import { median } from './measure.ts';
import type { Receiver } from './traffic.ts';
import { undisturbed } from './undisturbed.ts';

/** One of the two services. */
export interface Side {
  /** Environment variables of its processes. */
  api: Record<string, string>;
  worker: Record<string, string>;
  /** Of another checkout, with its packages installed; then both sides name one, so that each has a new database in each round. */
  folder?: string;
  /** Called in the middle of each of its turns. @throws when the feature is not on, so that there is nothing to measure */
  during?: () => Promise<void>;
}

/** Of two turns that follow each other: CPU, ms. */
export interface Beside {
  without: number;
  withFeature: number;
}

/** CPU per delivery. */
export interface Pair extends Beside {
  /** Deliveries per second of the one without the feature. */
  perSecond: number;
}

const TURN_SECONDS = 5;
// Until as much is under way as before the break.
const TURN_WARM_UP_SECONDS = 2;
const WARM_UP_SECONDS = 15;

/**
 * Measures rounds of turns. Each round has new processes, and the sides change their stacks, so that neither compiled code nor a database
 * that is laid out better stays with one of them.
 * @param sides makes both, for a round
 * @returns the pairs of each round
 */
export async function measureBeside(
  stacks: [Stack, Stack],
  receiver: Receiver,
  options: BenchOptions,
  sides: () => Promise<{ without: Side; withFeature: Side }>,
): Promise<Pair[][]> {
  const rounds: Pair[][] = [];
  const turns = turnsOf(options.seconds);
  for (let number = 1; number <= options.rounds; number += 1) {
    const label = `round ${number} of ${options.rounds}`;
    console.log(`${label}: ${turns.count} pairs of turns of ${turns.seconds} s`);
    const [first, second] = number % 2 === 1 ? stacks : ([stacks[1], stacks[0]] as const);
    const round = async () => measureRound([first, second], receiver, options, await sides());
    rounds.push(await undisturbed(label, options, round));
  }
  return rounds;
}

function turnsOf(seconds: number): { count: number; seconds: number } {
  const count = Math.ceil(seconds / TURN_SECONDS);
  return { count, seconds: seconds / count };
}

async function measureRound(
  stacks: readonly [Stack, Stack],
  receiver: Receiver,
  options: BenchOptions,
  sides: { without: Side; withFeature: Side },
): Promise<Pair[]> {
  const { seconds } = options;
  return withBoth(stacks, receiver, options, sides, async (without, withFeature) => {
    const measureWithout = (turn: Turn) => takeTurn(without, sides.without, turn);
    const measureWith = (turn: Turn) => takeTurn(withFeature, sides.withFeature, turn);
    const turns = turnsOf(seconds);
    // A process that was just started runs uncompiled code for a while. Not longer than what is measured, so that a try is short.
    const warmUp = { warmUpSeconds: 0, seconds: Math.min(WARM_UP_SECONDS, seconds) };
    await measureWithout(warmUp);
    await measureWith(warmUp);
    const pairs: Pair[] = [];
    const turn = { warmUpSeconds: TURN_WARM_UP_SECONDS, seconds: turns.seconds };
    for (let number = 0; number < turns.count; number += 1) {
      // The one that was last is the first of the next pair.
      if (number % 2 === 0) pairs.push(pairOf(await measureWithout(turn), await measureWith(turn)));
      else {
        const measured = await measureWith(turn);
        pairs.push(pairOf(await measureWithout(turn), measured));
      }
    }
    return pairs;
  });
}

function pairOf(without: Measured, withFeature: Measured): Pair {
  return { without: without.ms, withFeature: withFeature.ms, perSecond: without.perSecond };
}

/** Starts both, suspended, and stops them. */
async function withBoth<Result>(
  [first, second]: readonly [Stack, Stack],
  receiver: Receiver,
  { body }: BenchOptions,
  sides: { without: Side; withFeature: Side },
  work: (without: RunningLane, withFeature: RunningLane) => Promise<Result>,
): Promise<Result> {
  const start = (stack: Stack, { api, worker, folder }: Side) =>
    startLane(stack, receiver, {
      lane: 'express',
      body,
      own: { api, worker, ...(folder !== undefined && { folder }) },
    });
  const without = await start(first, sides.without);
  const withFeature = await start(second, sides.withFeature);
  try {
    for (const lane of [without, withFeature]) suspend(lane);
    return await work(without, withFeature);
  } finally {
    await without.stop();
    await withFeature.stop();
  }
}

interface Turn {
  warmUpSeconds: number;
  seconds: number;
}

interface Measured {
  /** CPU per delivery. */
  ms: number;
  /** Deliveries. */
  perSecond: number;
}

async function takeTurn(lane: RunningLane, { during }: Side, turn: Turn): Promise<Measured> {
  const { deliveries, seconds, before, after } = await inTurn(lane, during, turn.warmUpSeconds + turn.seconds / 2, () =>
    lane.saturate(turn),
  );
  return { ms: totalCpuMs(costPer(deliveries, before, after)), perSecond: deliveries / seconds };
}

/**
 * Lets one of the two run, and the other wait.
 * @param during called after so many seconds
 */
async function inTurn<Result>(
  lane: RunningLane,
  during: Side['during'],
  afterSeconds: number,
  work: () => Promise<Result>,
): Promise<Result> {
  for (const process of lane.processes) process.resume();
  const middle = Promise.withResolvers<void>();
  const timer = setTimeout(
    () => (during?.() ?? Promise.resolve()).then(middle.resolve, middle.reject),
    afterSeconds * 1000,
  );
  try {
    const [result] = await Promise.all([work(), middle.promise]);
    return result;
  } finally {
    clearTimeout(timer);
    suspend(lane);
  }
}

function suspend(lane: RunningLane): void {
  for (const process of lane.processes) process.suspend();
}

/** What a feature adds, percent: the median of the pairs, and how sure that is. */
export interface Added {
  median: number;
  /** Half of the pairs lie between them. */
  quartiles: [number, number];
  /** The median lies between them with 95 %; null: there are too few pairs to say. */
  interval: [number, number] | null;
  /** The median of each round. */
  rounds: number[];
}

/** @param percent of a pair */
export function addedBy(rounds: Pair[][], percent: (pair: Pair) => number): Added {
  const sorted = rounds
    .flat()
    .map(percent)
    .sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
  const rank = rankOfInterval(sorted.length);
  return {
    median: median(sorted),
    quartiles: [at(0.25), at(0.75)],
    interval: rank === null ? null : [sorted[rank] ?? Number.NaN, sorted[sorted.length - 1 - rank] ?? Number.NaN],
    rounds: rounds.map((pairs) => median(pairs.map(percent))),
  };
}

const OUTSIDE = 0.05;

/**
 * The interval of the sign test: of n values the median of all values lies outside of the k-th smallest and largest with twice the
 * probability of at most k heads in n tosses.
 * @returns k, from 0; null: even the smallest and the largest are too near to each other
 */
function rankOfInterval(count: number): number | null {
  let heads = 0.5 ** count;
  let atMost = heads;
  let rank: number | null = null;
  for (let k = 0; 2 * atMost <= OUTSIDE; k += 1) {
    rank = k;
    heads *= (count - k) / (k + 1);
    atMost += heads;
  }
  return rank;
}

/** For example "1.42 % (95 %: 0.61 to 2.20; half of 24 pairs: 0.12 to 2.90)". */
export function describeAdded({ median: middle, quartiles, interval }: Added, pairs: number): string {
  const range = ([from, to]: [number, number]) => `${from.toFixed(2)} to ${to.toFixed(2)}`;
  const sure = interval === null ? 'too few pairs for an interval' : `95 %: ${range(interval)}`;
  return `${middle.toFixed(2)} % (${sure}; half of ${pairs} pairs: ${range(quartiles)})`;
}
