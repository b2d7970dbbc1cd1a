// What is measured beside throughput: CPU by process, commits and WAL of PostgreSQL, percentiles.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { Pool } from 'pg';

// Linux reports CPU times in clock ticks, 100 a second on every architecture Node runs on (getconf CLK_TCK).
const MS_PER_TICK = 10;

/** User and system CPU of a process and the children it has waited for, in ms; 0 when it is gone. */
export function cpuMs(pid: number): number {
  if (process.platform !== 'linux') return cpuMsByPs(pid);
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Fields after the name in parentheses; utime, stime, cutime and cstime are the 14th to 17th of proc_pid_stat(5).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * MS_PER_TICK;
  } catch {
    return 0;
  }
}

function cpuMsByPs(pid: number): number {
  const text = execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  return text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) * 1000;
}

/** The same for a process and everything it started (PostgreSQL: one process per connection). */
export function treeCpuMs(pid: number): number {
  return cpuMs(pid) + childrenOf(pid).reduce((sum, child) => sum + treeCpuMs(child), 0);
}

/** Of a process, on Linux. */
function childrenOf(pid: number): number[] {
  if (process.platform !== 'linux') return [];
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** Memory a process holds, MiB. */
export function residentMiB(pid: number): number {
  if (process.platform === 'linux') {
    const [, resident] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Math.round(Number(resident) / 1024);
  }
  const text = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return Math.round(Number(text) / 1024);
}

export interface DatabaseCounters {
  hookyardCommits: number;
  temporalCommits: number;
  walBytes: number;
}

/** Commits so far of Hookyard's own database and of Temporal's two, and WAL of the whole server. */
export async function databaseCounters(pool: Pool): Promise<DatabaseCounters> {
  const { rows } = await pool.query<DatabaseCounters>(`
    select (select xact_commit from pg_stat_database where datname = current_database())::float8 as "hookyardCommits",
           (select sum(xact_commit) from pg_stat_database where datname like 'temporal%')::float8 as "temporalCommits",
           pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as "walBytes"`);
  const counters = rows[0];
  if (!counters) throw new Error('PostgreSQL returned no statistics');
  return counters;
}

/** Nearest-rank percentiles of numbers, by default to one decimal. */
export function percentiles(values: number[], decimals = 1): { p50: number; p95: number; p99: number } {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => Number((sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN).toFixed(decimals));
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** The middle of numbers; of an even count, the mean of the two in the middle. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted.length >> 1;
  const lower = (sorted.length - 1) >> 1;
  return ((sorted[lower] ?? Number.NaN) + (sorted[upper] ?? Number.NaN)) / 2;
}
