// How much of the cores' time the hypervisor gave to other machines since the bench began: it explains slow rounds. A virtual
// machine on Linux counts it as steal in the first line of /proc/stat, in ticks (proc_stat(5)).
import { readFileSync } from 'node:fs';

const STEAL = 7;
// Guest time, which follows, is part of user time already.
const STATES = 8;
const atStart = readTicks();

/** @returns a share in percent; undefined where it is not counted */
export function stolenPercent(): number | undefined {
  const now = readTicks();
  if (!atStart || !now) return undefined;
  const since = now.map((ticks, state) => ticks - (atStart[state] ?? 0));
  const all = since.reduce((sum, ticks) => sum + ticks, 0);
  return all === 0 ? 0 : ((since[STEAL] ?? 0) / all) * 100;
}

function readTicks(): number[] | undefined {
  if (process.platform !== 'linux') return undefined;
  const [all = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  return all
    .trim()
    .split(/\s+/)
    .slice(1, 1 + STATES)
    .map(Number);
}
