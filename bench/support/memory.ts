// Memory of the processes over a phase: whether it grows, and its curves.
import type { Bar } from './bars.ts';
import { type Chart, chart } from './curves.ts';
import { median } from './measure.ts';
import type { Memory } from './service.ts';

/** How much more a process may hold at the end of a phase than at its beginning: what a heap breathes, MiB. */
const BAR_MIB = 64;

/** Two bars: what worker and API hold in the last quarter of the samples, beyond what they held in the first. */
export function memoryBars(samples: Memory[]): Bar[] {
  return [
    { what: 'memory of the API, growth', unit: ' MiB', atMost: BAR_MIB, value: growth(samples, 'api') },
    { what: 'memory of the worker, growth', unit: ' MiB', atMost: BAR_MIB, value: growth(samples, 'worker') },
  ];
}

/** The curves of both. */
export function memoryChart(place: Omit<Chart, 'title' | 'curves'>, lane: string, samples: Memory[]): string[] {
  return chart({
    ...place,
    title: `lane ${lane}: memory, MiB`,
    curves: [
      { name: 'worker', color: '#4477aa', values: samples.map((sample) => sample.worker) },
      { name: 'API', color: '#228833', values: samples.map((sample) => sample.api) },
    ],
  });
}

function growth(samples: Memory[], name: keyof Memory): number {
  const quarter = Math.ceil(samples.length / 4);
  const values = samples.map((sample) => sample[name]);
  return median(values.slice(-quarter)) - median(values.slice(0, quarter));
}
