// The options of the command line.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { LANE_SETTINGS, LANES, type LaneSetting } from '../../core/delivery/delivery.ts';
import { KIND_NAMES, type KindName } from './pipes.ts';
import { EXTRAS, type Extra, LONGEST_PEACE_SECONDS } from './schedule.ts';

// With the connections of each, PostgreSQL takes no more.
const MOST_WORKERS = 8;
const LONGEST_HOURS = 48;
/** More than can be done. */
const FAULTS_PER_HOUR = 3600;

export interface TortureOptions {
  /** How long the load lasts, whatever was done by then; null: until so many faults and events are done. */
  hours: number | null;
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
  /** What stands between and beside the processes. */
  extras: Extra[];
  /** Longest time without faults between two rounds. */
  peaceSeconds: number;
}

/** What is usual, where the time is given and where it is not. */
const UNTIL_DONE = { lane: 'both', rate: '10', workers: '2', with: 'none', peace: String(LONGEST_PEACE_SECONDS) };
const FOR_HOURS = { lane: 'adaptive', rate: '5', workers: '3', with: EXTRAS.join(), peace: '20' };

/**
 * Reads the arguments of the command.
 * @throws Error naming an option that is unknown or cannot be used
 */
export function readOptions(args: string[]): TortureOptions {
  const { values: given } = parseArgs({
    args,
    options: {
      hours: { type: 'string' },
      minutes: { type: 'string' },
      events: { type: 'string' },
      faults: { type: 'string' },
      seed: { type: 'string', default: String(randomInt(2 ** 32 - 1)) },
      lane: { type: 'string' },
      rate: { type: 'string' },
      workers: { type: 'string' },
      with: { type: 'string' },
      peace: { type: 'string' },
      only: { type: 'string', default: KIND_NAMES.join() },
      keys: { type: 'string', default: '100' },
    },
  });
  const values = { ...(given.hours === undefined ? UNTIL_DONE : FOR_HOURS), ...given };
  return {
    ...lengthOf(given),
    seed: whole('seed', values.seed, 0, 2 ** 32 - 1),
    lanes: lanesOf(values.lane),
    kinds: namesIn('only', values.only, KIND_NAMES),
    keys: whole('keys', values.keys, 1, 100_000),
    rate: within('rate', Number(values.rate), 0.1, 200),
    workers: whole('workers', values.workers, 1, MOST_WORKERS),
    extras: values.with === 'none' ? [] : namesIn('with', values.with, EXTRAS),
    peaceSeconds: within('peace', Number(values.peace), 0, 600),
  };
}

/** Either so long, or until so much is done. */
function lengthOf(given: Partial<Record<'hours' | 'minutes' | 'events' | 'faults', string>>) {
  if (given.hours === undefined)
    return {
      hours: null,
      minutes: within('minutes', Number(given.minutes ?? 60), 0.1, 1440),
      events: whole('events', given.events ?? '10000', 1, 1_000_000),
      faults: whole('faults', given.faults ?? '200', 0, 10_000),
    };
  const other = (['minutes', 'events', 'faults'] as const).find((name) => given[name] !== undefined);
  if (other !== undefined) throw new Error(`--hours says how long the run is: leave out --${other}`);
  const hours = within('hours', Number(given.hours), 0.01, LONGEST_HOURS);
  return { hours, minutes: hours * 60, events: 1, faults: Math.ceil(hours * FAULTS_PER_HOUR) };
}

function lanesOf(text: string): LaneSetting[] {
  const lanes = text === 'both' ? [...LANES] : LANE_SETTINGS.filter((lane) => text === lane);
  if (lanes.length === 0) throw new Error(`--lane must be ${LANE_SETTINGS.join(', ')} or both (is "${text}")`);
  return lanes;
}

/** Some of the names, with commas. */
function namesIn<Name extends string>(option: string, text: string, names: Name[]): Name[] {
  const given = text.split(',').map((name) => name.trim());
  const unknown = given.find((name) => !names.some((known) => known === name));
  if (unknown !== undefined) throw new Error(`--${option} must be some of ${names.join(',')} (is "${unknown}")`);
  return names.filter((name) => given.includes(name));
}

function whole(name: string, text: string, low: number, high: number): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isInteger(value)) throw new Error(`--${name} must be a whole number (is "${text}")`);
  return within(name, value, low, high);
}

function within(name: string, value: number, low: number, high: number): number {
  if (!(value >= low && value <= high)) throw new Error(`--${name} must be a number from ${low} to ${high}`);
  return value;
}
