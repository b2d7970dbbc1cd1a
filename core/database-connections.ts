// How many PostgreSQL connections a process opens at most, by what they are for (docs/connections.md).
import type { Settings } from './config.ts';

/** Each is the size of a pool. */
export interface ApiConnections {
  /** Store webhooks. */
  ingest: number;
  /** Lists, histories and commands of the management API, which may be slow. */
  management: number;
  /** Records of the management API. */
  records: number;
  /** Keys, and what belongs to no organization. */
  service: number;
}

/** Besides these a worker listens on one connection, and holds its lock on another. */
export interface WorkerConnections {
  /** Claim, load and record. */
  hot: number;
  /** Commands and housekeeping. */
  commands: number;
  warehouses: number;
}

const OWN = 2;
// Without a budget, and the most with one; hot paths take what is left.
const API_OTHERS = 8;
const API_SERVICE = 4;
const WORKER_OTHERS = 4;
// Settling holds one connection of `commands` and works on another (db/history/lists/settle.ts).
const FEWEST = 2;

export function apiConnections(
  settings: Pick<Settings, 'HOOKYARD_DATABASE_POOL' | 'HOOKYARD_API_DATABASE_CONNECTIONS'>,
): ApiConnections {
  const total = settings.HOOKYARD_API_DATABASE_CONNECTIONS;
  if (total === undefined)
    return {
      ingest: settings.HOOKYARD_DATABASE_POOL,
      management: API_OTHERS,
      records: API_OTHERS,
      service: API_SERVICE,
    };
  const others = share(total / 4, API_OTHERS);
  const service = share(total / 8, API_SERVICE);
  return { ingest: total - 2 * others - service, management: others, records: others, service };
}

export function workerConnections(
  settings: Pick<Settings, 'HOOKYARD_DATABASE_POOL' | 'HOOKYARD_WORKER_DATABASE_CONNECTIONS'>,
): WorkerConnections {
  const total = settings.HOOKYARD_WORKER_DATABASE_CONNECTIONS;
  if (total === undefined)
    return { hot: settings.HOOKYARD_DATABASE_POOL, commands: WORKER_OTHERS, warehouses: WORKER_OTHERS };
  const commands = share(total / 6, WORKER_OTHERS);
  const warehouses = Math.min(WORKER_OTHERS, Math.floor(total / 6));
  return { hot: total - OWN - commands - warehouses, commands, warehouses };
}

const share = (part: number, most: number): number => Math.min(most, Math.max(FEWEST, Math.floor(part)));
