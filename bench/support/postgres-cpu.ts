// CPU of PostgreSQL by what its processes are: backends by their database, and the server's own.
import { readFileSync } from 'node:fs';
import { childrenOf, cpuMs } from './measure.ts';

/** ms, by part. */
export type PostgresCpu = Map<string, number>;

/** @param pid of the server; processes that have ended count as its own */
export function postgresCpuMs(pid: number): PostgresCpu {
  const parts: PostgresCpu = new Map([['postmaster, ended processes', cpuMs(pid)]]);
  for (const child of childrenOf(pid)) {
    const part = titleOf(child);
    parts.set(part, (parts.get(part) ?? 0) + cpuMs(child));
  }
  return parts;
}

// "postgres: walwriter", or "postgres: role database address(port) state" (PostgreSQL manual, 27.1).
function titleOf(pid: number): string {
  try {
    const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    const [, text = title] = /^postgres: (.*)$/.exec(title) ?? [];
    const [, database] = /^\S+ (\S+) \S+\(\d+\)/.exec(text) ?? [];
    if (database) return `database ${database}`;
    return text.replace(/ .*| \d+$/, '');
  } catch {
    return 'ended';
  }
}
