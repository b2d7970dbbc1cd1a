// Saturates a lane and its limit in short turns, so that a machine that changes its speed changes both figures alike.
import { type Cost, costPer } from '../support/cost.ts';
import type { RunningChild } from '../support/processes.ts';

/** What one turn made, after its warm-up. */
export interface Turn {
  deliveries: number;
  seconds: number;
  /** What everything had used at the beginning and at the end. */
  before: Cost;
  after: Cost;
}

export interface Contender {
  /** Suspended while it is another one's turn. */
  processes: RunningChild[];
  /** Saturates it, and resolves when nothing of that is left to be done: a workflow task of a suspended process would time out. */
  saturate(times: { warmUpSeconds: number; seconds: number }): Promise<Turn>;
}

export interface Saturated {
  /** Deliveries per second. */
  perSecond: number;
  /** Per delivery. */
  cost: Cost;
}

const TURN_SECONDS = 5;
// Until as much is under way as before the break.
const WARM_UP_SECONDS = 2;

/**
 * @param options.warmUpSeconds of each contender, before the first turn
 * @param options.seconds measured of each contender, in turns of five
 * @returns what each contender reached over all its turns
 */
export async function saturateInTurn<Name extends string>(
  contenders: Record<Name, Contender>,
  options: { warmUpSeconds: number; seconds: number },
): Promise<Record<Name, Saturated>> {
  const all = Object.entries(contenders) as [Name, Contender][];
  const turns = new Map<Name, Turn[]>(all.map(([name]) => [name, []]));
  for (const [, { processes }] of all) for (const process of processes) process.suspend();
  const take = async (contender: Contender, times: { warmUpSeconds: number; seconds: number }) => {
    for (const process of contender.processes) process.resume();
    const turn = await contender.saturate(times);
    for (const process of contender.processes) process.suspend();
    return turn;
  };
  const count = Math.ceil(options.seconds / TURN_SECONDS);
  const times = { warmUpSeconds: WARM_UP_SECONDS, seconds: options.seconds / count };
  // The first turn of each warms it up, and does not count.
  for (const [, contender] of all) await take(contender, { warmUpSeconds: 0, seconds: options.warmUpSeconds });
  for (let number = 0; number < count; number += 1) {
    for (const [name, contender] of all) turns.get(name)?.push(await take(contender, times));
  }
  for (const [, { processes }] of all) for (const process of processes) process.resume();
  return Object.fromEntries(all.map(([name]) => [name, summed(turns.get(name) ?? [])])) as Record<Name, Saturated>;
}

function summed(turns: Turn[]): Saturated {
  const sum = (pick: (turn: Turn) => number) => turns.reduce((total, turn) => total + pick(turn), 0);
  const deliveries = sum((turn) => turn.deliveries);
  const total = turns.map(({ before, after }) => costPer(deliveries, before, after)).reduce(add);
  return { perSecond: deliveries / sum((turn) => turn.seconds), cost: total };
}

function add(a: Cost, b: Cost): Cost {
  return {
    cpuMs: {
      api: a.cpuMs.api + b.cpuMs.api,
      worker: a.cpuMs.worker + b.cpuMs.worker,
      temporal: a.cpuMs.temporal + b.cpuMs.temporal,
      postgres: a.cpuMs.postgres + b.cpuMs.postgres,
    },
    loadCpuMs: a.loadCpuMs + b.loadCpuMs,
    hookyardCommits: a.hookyardCommits + b.hookyardCommits,
    temporalCommits: a.temporalCommits + b.temporalCommits,
    walBytes: a.walBytes + b.walBytes,
  };
}
