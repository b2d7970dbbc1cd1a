// Preloaded into a process under test (support/clock.ts): its Date is off by so many milliseconds as a file says, and
// follows when the file changes, like the clock of a machine that is set. What is monotonic (performance.now, timers)
// stays as it is. Loaded before everything else, in worker threads as well. Workflow code has the time of Temporal,
// with or without this.
import { readFileSync, watchFile } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const LOOK_EVERY_MS = 50;

const file = process.env.TEST_CLOCK_FILE ?? '';
const realNow = Date.now.bind(Date);
let offsetMs = 0;

const shiftedNow = (): number => realNow() + offsetMs;

Date.now = shiftedNow;
const ShiftedDate = new Proxy(Date, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [shiftedNow()] : args, newTarget),
  apply: () => new ShiftedDate().toString(),
});
Date.prototype.constructor = ShiftedDate;
globalThis.Date = ShiftedDate;

function follow(): void {
  offsetMs = Number(readFileSync(file, 'utf8'));
  if (isMainThread) process.stderr.write(`the clock is off by ${offsetMs} ms\n`);
}

follow();
watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, follow);
