// npm run bench -- beside --checkout FOLDER [--seconds 60 --rounds 4]: what a delivery costs in this checkout beside another one, in turns.
// The other one is a folder with its packages installed, such as a clone of the previous version.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Stack } from '../local/stack.ts';
import { barLine } from './support/bars.ts';
import { addedBy, describeAdded, measureBeside, type Pair } from './support/beside.ts';
import { median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { PROJECT } from './support/processes.ts';
import type { Receiver } from './support/traffic.ts';

const MOST_PERCENT = 3;

/** @throws Error when there is no such checkout */
export async function measureCheckouts(
  stacks: [Stack, Stack],
  receiver: Receiver,
  options: BenchOptions,
): Promise<void> {
  const before = resolve(options.checkout);
  if (options.checkout === '' || !existsSync(join(before, 'node_modules')))
    throw new Error('--checkout must name a folder with another checkout and its packages (npm ci)');
  const settings = { OTEL_EXPORTER_PROMETHEUS_PORT: '0' };
  const side = (folder: string) => ({ api: settings, worker: settings, folder });
  const rounds = await measureBeside(stacks, receiver, options, async () => ({
    without: side(before),
    withFeature: side(PROJECT),
  }));
  console.log(report(rounds, before));
}

function report(rounds: Pair[][], before: string): string {
  const added = addedBy(rounds, ({ without, withFeature }) => (withFeature / without - 1) * 100);
  const pairs = rounds.flat();
  const of = (pick: (pair: Pair) => number) => median(pairs.map(pick)).toFixed(3);
  const bar = { what: 'CPU per delivery, above the other checkout', unit: ' %', atMost: MOST_PERCENT };
  return [
    '',
    `lane express, saturated; medians of ${pairs.length} pairs of turns in ${rounds.length} rounds`,
    `  CPU per delivery in ${before}   ${of(({ without }) => without)} ms`,
    `  in this checkout   ${of(({ withFeature }) => withFeature)} ms`,
    `  more               ${describeAdded(added, pairs.length)}`,
    barLine({ ...bar, value: added.median, rounds: added.rounds }),
  ].join('\n');
}
