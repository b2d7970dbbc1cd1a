// The options of the command line, the same for every bench; each uses those that mean something to it.
import { parseArgs } from 'node:util';
import { PLANS, type Plan } from '../../core/config/plans-and-scopes.ts';
import { LANE_SETTINGS, type LaneSetting } from '../../core/delivery/delivery.ts';
import { REPEATS } from './undisturbed.ts';

export interface BenchOptions {
  /** Length of a measured phase. */
  seconds: number;
  rounds: number;
  /** How often a round is measured again of which others took much of the cores. */
  repeats: number;
  /** The one that is named. */
  lane: LaneSetting | undefined;
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
  /** Deliveries that wait behind one ordering key. */
  waiting: number;
  /** The folder of the checkout that `beside` compares with this one. */
  checkout: string;
  /** The body of every webhook. */
  body: string;
}

// About 1 KiB, the size of a small GitHub event.
const BODY = JSON.stringify({ action: 'opened', number: 1, padding: 'x'.repeat(960) });

/**
 * Reads the arguments of the process.
 * @returns the name of the bench, and its options
 * @throws Error naming an option that is unknown or cannot be used
 */
export function readOptions(): { bench: string; options: BenchOptions } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '20' },
      rounds: { type: 'string', default: '2' },
      repeats: { type: 'string', default: String(REPEATS) },
      lane: { type: 'string' },
      rates: { type: 'string', default: '400,100' },
      workers: { type: 'string', default: '1,4,16,50' },
      api: { type: 'string', default: '2' },
      rate: { type: 'string', default: '400' },
      attack: { type: 'string', default: '' },
      only: { type: 'string', default: '' },
      plan: { type: 'string', default: 'business' },
      waiting: { type: 'string', default: '20000' },
      checkout: { type: 'string', default: '' },
    },
  });
  return {
    bench: positionals[0] ?? 'deliver',
    options: {
      seconds: positive('seconds', values.seconds),
      rounds: positive('rounds', values.rounds),
      repeats: wholeNumber('repeats', values.repeats),
      lane: values.lane === undefined ? undefined : oneOf('lane', values.lane, LANE_SETTINGS),
      rates: values.rates.split(',').map((rate) => positive('rates', rate)),
      workers: values.workers.split(',').map((count) => positive('workers', count)),
      api: positive('api', values.api),
      rate: positive('rate', values.rate),
      attack: values.attack,
      only: values.only,
      plan: oneOf('plan', values.plan, PLANS),
      waiting: positive('waiting', values.waiting),
      checkout: values.checkout,
      body: BODY,
    },
  };
}

function oneOf<Name extends string>(option: string, text: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === text);
  if (found === undefined) throw new Error(`--${option} must be ${names.join(' or ')} (the value is "${text}")`);
  return found;
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`--${name} must be a whole number (the value is "${text}")`);
  return Number(text);
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0 (the value is "${text}")`);
  return value;
}
