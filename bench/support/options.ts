// The options of the command line, the same for every bench; each uses those that mean something to it.
import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Length of a measured phase. */
  seconds: number;
  rounds: number;
  /** Whether figures and plots are written to docs/bench. */
  save: boolean;
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
      save: { type: 'boolean', default: false },
    },
  });
  const number = (name: 'seconds' | 'rounds') => {
    const value = Number(values[name]);
    if (!(value > 0)) throw new Error(`--${name} must be a number above 0 (is "${values[name]}")`);
    return value;
  };
  return {
    bench: positionals[0] ?? 'lanes',
    options: { seconds: number('seconds'), rounds: number('rounds'), save: values.save, body: BODY },
  };
}
