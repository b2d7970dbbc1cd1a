// A clock of processes under test that can be set while they run. Those of PostgreSQL and Temporal are left alone.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Service } from '../service.ts';
import { until } from '../until.ts';

const PRELOADED = pathToFileURL(join(import.meta.dirname, 'shifted-clock.ts')).href;

export class ProcessClock {
  readonly #folder = mkdtempSync(join(tmpdir(), 'hookyard-clock-'));
  readonly #file = join(this.#folder, 'offset');

  /** @param offsetMs from the right time */
  constructor(offsetMs = 0) {
    this.#write(offsetMs);
  }

  /** What a process is started with to have this clock. */
  get environment(): Record<string, string> {
    const options = [process.env.NODE_OPTIONS, `--import=${PRELOADED}`].filter(Boolean).join(' ');
    return { NODE_OPTIONS: options, TEST_CLOCK_FILE: this.#file };
  }

  /** Sets the clock, in ms from the right time; returns when these processes have noticed. */
  async set(offsetMs: number, services: Service[]): Promise<void> {
    this.#write(offsetMs);
    await until('the processes to follow the clock', () => services.every((service) => offsetOf(service) === offsetMs));
  }

  // In one step, so that nobody reads half of it.
  #write(offsetMs: number): void {
    writeFileSync(`${this.#file}.new`, String(offsetMs));
    renameSync(`${this.#file}.new`, this.#file);
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function offsetOf(service: Service): number | undefined {
  const found = [...service.output().matchAll(/the clock is off by (-?\d+) ms/g)].at(-1);
  return found && Number(found[1]);
}
