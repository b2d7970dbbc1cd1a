// The options of the command line, the same for every bench; each uses those that mean something to it.
import { parseArgs } from 'node:util';
import { LANES, type Lane } from '../../core/lane.ts';

export interface BenchOptions {
  /** Length of a measured phase. */
  seconds: number;
  rounds: number;
  /** Of the benches that measure one lane at a time. */
  lane: Lane;
  /** Webhooks sent while a circuit is open, and how many are released in a second when it is closed again. */
  events: number;
  release: number;
  /** Whether figures and plots are written to docs/bench. */
  save: boolean;
  /** The body of every webhook. */
  body: string;
}

// About 1 KiB, the size of a small GitHub event.
const BODY = JSON.stringify({ action: 'opened', number: 1, padding: 'x'.repeat(960) });
const DEFAULTS = { seconds: 20, rounds: 2, events: 10_000, release: 50 };

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
      lane: { type: 'string', default: 'workflow' },
      events: { type: 'string' },
      release: { type: 'string' },
      save: { type: 'boolean', default: false },
    },
  });
  const number = (name: keyof typeof DEFAULTS): number => {
    const value = Number(values[name] ?? DEFAULTS[name]);
    if (!(value > 0)) throw new Error(`--${name} must be a number above 0 (is "${values[name]}")`);
    return value;
  };
  const lane = LANES.find((name) => name === values.lane);
  if (lane === undefined) throw new Error(`--lane must be ${LANES.join(' or ')} (is "${values.lane}")`);
  return {
    bench: positionals[0] ?? 'lanes',
    options: {
      seconds: number('seconds'),
      rounds: number('rounds'),
      lane,
      events: number('events'),
      release: number('release'),
      save: values.save,
      body: BODY,
    },
  };
}
