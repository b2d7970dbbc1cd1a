// Figures and plots that are kept: docs/bench, written only when asked for.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeMachine } from './machine.ts';
import { disturbance } from './undisturbed.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'bench');

/**
 * Writes docs/bench/<name>.json, with the command, the machine they are of and what others took of it, and the plot beside it.
 * @param plot an SVG document
 */
export function saveResults(name: string, results: object, plot?: string): void {
  mkdirSync(FOLDER, { recursive: true });
  const command = ['npm run bench --', ...process.argv.slice(2)].join(' ');
  const { measuredAt, ...machine } = describeMachine();
  const document = { command, measuredAt, machine, disturbance: disturbance(), ...results };
  writeFileSync(join(FOLDER, `${name}.json`), `${JSON.stringify(document, rounded, 2)}\n`);
  if (plot !== undefined) writeFileSync(join(FOLDER, `${name}.svg`), plot);
  console.log(`written: docs/bench/${name}.json${plot === undefined ? '' : ` and docs/bench/${name}.svg`}`);
}

// More digits than a figure is worth only hide it.
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(5)) : value;
}
