// Figures and plots that are kept: docs/bench, written only when asked for.
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { stolenPercent } from './stolen.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'bench');

/**
 * Writes docs/bench/<name>.json, with the command and the machine they are of, and the plot beside it.
 * @param plot an SVG document
 */
export function saveResults(name: string, results: object, plot?: string): void {
  mkdirSync(FOLDER, { recursive: true });
  const machine = {
    cores: cpus().length,
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    stolenPercent: stolenPercent(),
  };
  const command = ['npm run bench --', ...process.argv.slice(2)].join(' ');
  const document = { command, measuredAt: new Date().toISOString(), machine, ...results };
  writeFileSync(join(FOLDER, `${name}.json`), `${JSON.stringify(document, rounded, 2)}\n`);
  if (plot !== undefined) writeFileSync(join(FOLDER, `${name}.svg`), plot);
  console.log(`written: docs/bench/${name}.json${plot === undefined ? '' : ` and docs/bench/${name}.svg`}`);
}

// More digits than a figure is worth only hide it.
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(5)) : value;
}
