// The options of the command line.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { LANE_SETTINGS, LANES, type LaneSetting } from '../../core/delivery/delivery.ts';
import { KIND_NAMES, type KindName } from './pipes.ts';
import { LONGEST_PEACE_SECONDS } from './schedule.ts';

// With the connections of each, PostgreSQL takes no more.
const MOST_WORKERS = 8;

export interface TortureOptions {
  /** Longest time for faults and load; what is not done by then is left out, and the report says so. */
  minutes: number;
  /** How many events have to be acknowledged, at least. */
  events: number;
  faults: number;
  /** Below 2^32. The schedule of faults follows from it, and which requests the receivers fail. */
  seed: number;
  /** The lanes that routes are in; each kind of route is made once for each of them. */
  lanes: LaneSetting[];
  kinds: KindName[];
  /** Ordering keys of a route that has them. */
  keys: number;
  /** Webhooks sent in a second. */
  rate: number;
  /** Worker processes. */
  workers: number;
  /** Longest time without faults between two rounds. */
  peaceSeconds: number;
}

/**
 * Reads the arguments of the command.
 * @throws Error naming an option that is unknown or cannot be used
 */
export function readOptions(args: string[]): TortureOptions {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '60' },
      events: { type: 'string', default: '10000' },
      faults: { type: 'string', default: '200' },
      seed: { type: 'string', default: String(randomInt(2 ** 32 - 1)) },
      lane: { type: 'string', default: 'both' },
      rate: { type: 'string', default: '10' },
      workers: { type: 'string', default: '2' },
      peace: { type: 'string', default: String(LONGEST_PEACE_SECONDS) },
      only: { type: 'string', default: KIND_NAMES.join() },
      keys: { type: 'string', default: '100' },
    },
  });
  return {
    minutes: within('minutes', Number(values.minutes), 0.1, 1440),
    events: whole('events', values.events, 1, 1_000_000),
    faults: whole('faults', values.faults, 0, 10_000),
    seed: whole('seed', values.seed, 0, 2 ** 32 - 1),
    lanes: lanesOf(values.lane),
    kinds: namesIn('only', values.only, KIND_NAMES),
    keys: whole('keys', values.keys, 1, 100_000),
    rate: within('rate', Number(values.rate), 0.1, 200),
    workers: whole('workers', values.workers, 1, MOST_WORKERS),
    peaceSeconds: within('peace', Number(values.peace), 0, 600),
  };
}

function lanesOf(text: string): LaneSetting[] {
  const lanes = text === 'both' ? [...LANES] : LANE_SETTINGS.filter((lane) => text === lane);
  if (lanes.length === 0)
    throw new Error(`--lane must be ${LANE_SETTINGS.join(', ')} or both (the value is "${text}")`);
  return lanes;
}

/** Some of the names, with commas. */
function namesIn<Name extends string>(option: string, text: string, names: Name[]): Name[] {
  const given = text.split(',').map((name) => name.trim());
  const unknown = given.find((name) => !names.some((known) => known === name));
  if (unknown !== undefined)
    throw new Error(`--${option} must be some of ${names.join(',')} (the value is "${unknown}")`);
  return names.filter((name) => given.includes(name));
}

function whole(name: string, text: string, low: number, high: number): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isInteger(value)) throw new Error(`--${name} must be a whole number (the value is "${text}")`);
  return within(name, value, low, high);
}

function within(name: string, value: number, low: number, high: number): number {
  if (!(value >= low && value <= high)) throw new Error(`--${name} must be a number from ${low} to ${high}`);
  return value;
}
