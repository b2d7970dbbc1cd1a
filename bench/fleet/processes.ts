// A fleet: several API processes, and a number of workers that grows. All of them are real processes with small pools, in the lane
// `express`.
import { createPool, type Pool } from '../../db/connections/pool.ts';
import type { Stack } from '../../local/stack.ts';
import { type Cost, readCounters } from '../support/cost.ts';
import { residentMiB } from '../support/measure.ts';
import { type RunningChild, startProcess } from '../support/processes.ts';
import { createPipe, install, type Organization } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

// The smallest pools that keep up with one process's part of the load.
const API_SETTINGS = { HOOKYARD_DATABASE_CONNECTIONS: '12' };
const WORKER_SETTINGS = { HOOKYARD_DATABASE_CONNECTIONS: '8' };
// More would take longer than a start may, on a machine with few cores.
const START_AT_A_TIME = 2;
const DRAIN_DEADLINE_MS = 120_000;

export interface Fleet {
  /** One for each API process, all with the same organization. */
  entrances: Organization[];
  /** Connections of the bench itself. */
  pool: Pool;
  workerCount(): number;
  /** Starts workers until there are so many. */
  growTo(workers: number): Promise<void>;
  /** What all its processes and the servers have used so far. */
  counters(): Promise<Cost>;
  /** MiB that a worker holds: mean of all. */
  workerMiB(): number;
  /** Waits until nothing is left to start. */
  drained(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the API processes; there is no worker yet. */
export async function startFleet(stack: Stack, apiCount: number): Promise<Fleet> {
  const { env, organizationId, organizationSlug, callerOf } = await install(stack, { HOOKYARD_LANE: 'express' });
  const apis = await startMany('api/main.ts', apiCount, { ...env, ...API_SETTINGS });
  const workers: RunningChild[] = [];
  const pool = createPool(stack.databaseUrl, { max: 2, statementTimeoutMs: 10_000, onError: () => {} });
  const entrances = apis.map(({ ready: { url = '' } }) => ({
    url,
    organizationId,
    organizationSlug,
    call: callerOf(url),
  }));
  const pids = (children: RunningChild[]) => children.map(({ pid }) => pid);
  return {
    entrances,
    pool,
    workerCount: () => workers.length,
    async growTo(count) {
      workers.push(...(await startMany('worker/main.ts', count - workers.length, { ...env, ...WORKER_SETTINGS })));
    },
    counters: () => readCounters(stack, pool, { api: pids(apis), worker: pids(workers) }),
    workerMiB: () => workers.reduce((sum, { pid }) => sum + residentMiB(pid), 0) / workers.length,
    async drained() {
      const isEmpty = async () => (await pool.query('select from outbox limit 1')).rowCount === 0;
      await waitFor('every delivery started', isEmpty, DRAIN_DEADLINE_MS);
    },
    async stop() {
      await Promise.all([...apis, ...workers].map((child) => child.stop()));
      await pool.end();
    },
  };
}

async function startMany(file: string, count: number, env: Record<string, string>): Promise<RunningChild[]> {
  const started: RunningChild[] = [];
  while (started.length < count) {
    const next = Math.min(START_AT_A_TIME, count - started.length);
    started.push(...(await Promise.all(Array.from({ length: next }, () => startProcess(file, env)))));
  }
  return started;
}

/** Sources with one destination each. @returns paths of their webhooks, the same at every entrance */
export async function createPaths(fleet: Fleet, receiverUrl: string, count: number): Promise<string[]> {
  const [entrance] = fleet.entrances;
  if (!entrance) throw new Error('the fleet has no API process');
  const paths: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const { webhookUrl } = await createPipe(entrance, `${receiverUrl}/${number}`);
    paths.push(new URL(webhookUrl).pathname);
  }
  return paths;
}
