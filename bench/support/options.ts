// The options of the command line, the same for every bench; each uses those that mean something to it.
import { parseArgs } from 'node:util';
import { PLANS, type Plan } from '../../core/config/access.ts';
import { LANE_SETTINGS, LANES, type Lane, type LaneSetting } from '../../core/delivery/lane.ts';
import { REPEATS } from './undisturbed.ts';

export interface BenchOptions {
  /** Length of a measured phase. */
  seconds: number;
  rounds: number;
  /** How often a round is measured again of which others took much of the cores. */
  repeats: number;
  /** Of the benches that measure one lane. */
  lane: Lane;
  /** Of those that measure both: both, or the one that is named. */
  lanes: readonly Lane[];
  /** Of those that know `adaptive` too. */
  setting: LaneSetting;
  /** Whether PostgreSQL's statements are counted, too. */
  statements: boolean;
  /** Webhooks per second. */
  rates: number[];
  /** Sizes of a fleet, its API processes, and webhooks per second for each size. */
  workers: number[];
  api: number;
  rate: number;
  /** Of the attacks of `neighbours` those whose name has this in it. */
  attack: string;
  /** Of the forms of `warehouse` those whose name begins so. */
  only: string;
  /** Of the organization that attacks. */
  plan: Plan;
  /** The folder of the checkout that `beside` compares with this one. */
  checkout: string;
  /** The body of every webhook. */
  body: string;
}

// About 1 KiB, the size of a small GitHub event.
const BODY = JSON.stringify({ action: 'opened', number: 1, padding: 'x'.repeat(960) });
/** Benches of which `--lane adaptive` is one. */
const WITH_ADAPTIVE = ['neighbours'];
const DEFAULTS = {
  seconds: 20,
  rounds: 2,
  api: 2,
  rate: 400,
};
const DEFAULT_LISTS = {
  workers: '1,4,16,50',
  rates: '20,50,100,200,400,800',
};

/**
 * Reads the arguments of the process.
 * @returns the name of the bench, and its options
 * @throws Error naming an option that is unknown or cannot be used
 */
export function readOptions(): { bench: string; options: BenchOptions } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      repeats: { type: 'string', default: String(REPEATS) },
      lane: { type: 'string' },
      statements: { type: 'boolean', default: false },
      rates: { type: 'string' },
      workers: { type: 'string' },
      api: { type: 'string' },
      rate: { type: 'string' },
      attack: { type: 'string', default: '' },
      only: { type: 'string', default: '' },
      plan: { type: 'string', default: 'business' },
      checkout: { type: 'string', default: '' },
    },
  });
  const number = (name: keyof typeof DEFAULTS) => positive(name, values[name] ?? String(DEFAULTS[name]));
  const list = (name: keyof typeof DEFAULT_LISTS) =>
    (values[name] ?? DEFAULT_LISTS[name]).split(',').flatMap((part) => (part === '' ? [] : [positive(name, part)]));
  const bench = positionals[0] ?? 'lanes';
  const known: readonly LaneSetting[] = WITH_ADAPTIVE.includes(bench) ? LANE_SETTINGS : LANES;
  const asked = values.lane ?? (WITH_ADAPTIVE.includes(bench) ? 'adaptive' : 'workflow');
  const setting = known.find((name) => name === asked);
  if (setting === undefined) throw new Error(`--lane must be ${known.join(' or ')} (is "${asked}")`);
  const lane = setting === 'adaptive' ? 'workflow' : setting;
  const plan = PLANS.find((name) => name === values.plan);
  if (plan === undefined) throw new Error(`--plan must be ${PLANS.join(' or ')} (is "${values.plan}")`);
  return {
    bench,
    options: {
      seconds: number('seconds'),
      rounds: number('rounds'),
      repeats: wholeNumber('repeats', values.repeats),
      lane,
      lanes: values.lane === undefined ? LANES : [lane],
      setting,
      statements: values.statements,
      rates: list('rates'),
      workers: list('workers'),
      api: number('api'),
      rate: number('rate'),
      attack: values.attack,
      only: values.only,
      plan,
      checkout: values.checkout,
      body: BODY,
    },
  };
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`--${name} must be a whole number (is "${text}")`);
  return Number(text);
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0 (is "${text}")`);
  return value;
}
