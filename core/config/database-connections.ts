// How many PostgreSQL connections a process opens at most, by what they are for (docs/operate/postgresql.md).
import type { Settings } from './config.ts';

export interface ApiConnections {
  ingest: number;
  /** Lists, histories and commands of the management API, which may be slow. */
  management: number;
  records: number;
  /** Keys, and what belongs to no organization. */
  service: number;
}

/** Besides these a worker listens on one connection, and holds slots of destinations on another. */
export interface WorkerConnections {
  hot: number;
  commands: number;
  warehouses: number;
}

/** Of a process without a setting. */
const DEFAULT_TOTAL = { api: 36, worker: 26 };
const OWN = 2;
// At most; hot paths take what is left.
const API_OTHERS = 8;
const API_SERVICE = 4;
const WORKER_OTHERS = 4;
// Settling holds one connection of `commands` and works on another.
const FEWEST = 2;

type Total = Pick<Settings, 'HOOKYARD_DATABASE_CONNECTIONS'>;

export function apiConnections({ HOOKYARD_DATABASE_CONNECTIONS: total = DEFAULT_TOTAL.api }: Total): ApiConnections {
  const others = share(total / 4, API_OTHERS);
  const service = share(total / 8, API_SERVICE);
  return { ingest: total - 2 * others - service, management: others, records: others, service };
}

export function workerConnections({
  HOOKYARD_DATABASE_CONNECTIONS: total = DEFAULT_TOTAL.worker,
}: Total): WorkerConnections {
  const commands = share(total / 6, WORKER_OTHERS);
  const warehouses = Math.min(WORKER_OTHERS, Math.floor(total / 6));
  return { hot: total - OWN - commands - warehouses, commands, warehouses };
}

const share = (part: number, most: number): number => Math.min(most, Math.max(FEWEST, Math.floor(part)));
