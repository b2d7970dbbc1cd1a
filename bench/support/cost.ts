// What a phase of a bench costs: CPU by process, commits and WAL, divided by what was delivered in it.
import type { Stack } from '../../local/stack.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { cpuMs, databaseCounters, treeCpuMs } from './measure.ts';

/** Processes besides the servers of the stack; a bare limit has only one, which counts as the worker. */
export interface Pids {
  api?: number | number[];
  worker: number | number[];
}

export interface Cost {
  /** ms, without load and receiver. */
  cpuMs: { api: number; worker: number; temporal: number; postgres: number };
  /** ms of the bench's own process: load and receiver. */
  loadCpuMs: number;
  hookyardCommits: number;
  temporalCommits: number;
  walBytes: number;
}

/** Everything since the start of the processes. */
export async function readCounters(stack: Stack, pool: Pool, pids: Pids): Promise<Cost> {
  const own = process.cpuUsage();
  return {
    cpuMs: {
      api: cpuOfAll(pids.api ?? []),
      worker: cpuOfAll(pids.worker),
      temporal: cpuMs(stack.temporal?.pid ?? 0),
      postgres: treeCpuMs(stack.postgres?.pid ?? 0),
    },
    loadCpuMs: (own.user + own.system) / 1000,
    ...(await databaseCounters(pool)),
  };
}

function cpuOfAll(pids: number | number[]): number {
  return [pids].flat().reduce((sum, pid) => sum + cpuMs(pid), 0);
}

/** What happened between two readings, divided by a number of deliveries (or of seconds). */
export function costPer(divisor: number, before: Cost, after: Cost): Cost {
  const per = (pick: (cost: Cost) => number) => (pick(after) - pick(before)) / divisor;
  return {
    cpuMs: {
      api: per((cost) => cost.cpuMs.api),
      worker: per((cost) => cost.cpuMs.worker),
      temporal: per((cost) => cost.cpuMs.temporal),
      postgres: per((cost) => cost.cpuMs.postgres),
    },
    loadCpuMs: per((cost) => cost.loadCpuMs),
    hookyardCommits: per((cost) => cost.hookyardCommits),
    temporalCommits: per((cost) => cost.temporalCommits),
    walBytes: per((cost) => cost.walBytes),
  };
}

/** CPU of all processes but the bench's own, ms. */
export function totalCpuMs({ cpuMs: { api, worker, temporal, postgres } }: Cost): number {
  return api + worker + temporal + postgres;
}
