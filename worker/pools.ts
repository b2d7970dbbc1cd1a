// The connection pools of a worker.
import type { NativeConnection } from '@temporalio/worker';
import type { Settings } from '../core/config/config.ts';
import { workerConnections } from '../core/config/database-connections.ts';
import type { Log } from '../core/process/log.ts';
import { causeOf } from '../core/process/log-cause.ts';
import { throttled } from '../core/process/throttled-log.ts';
import type { Database } from '../db/connections/database.ts';
import { createPool, type Pool } from '../db/connections/pool.ts';

const STATEMENT_TIMEOUT_MS = 10_000;
// Results of several organizations are recorded together: one that keeps a row locked must not hold up the others for long.
const HOT_LOCK_TIMEOUT_MS = 1000;

// Commands (cancel, replay, housekeeping) are rare and their query plans depend on their filters; they must not queue behind the
// hot path. Polls for warehouses read much; their pool is opened when there is something to write.
export function openPools(
  settings: Settings,
  { url, transactionPooler }: Database,
  log: Log,
): { hotPool: Pool; pool: Pool; warehousePool: Pool } {
  const { hot, commands, warehouses } = workerConnections(settings);
  const common = {
    name: 'hookyard-worker',
    transactionPooler,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onError: (error: Error) => throttled(log).warn({ cause: causeOf(error) }, 'an idle database connection broke'),
  };
  return {
    hotPool: createPool(url, {
      ...common,
      max: hot,
      lockTimeoutMs: HOT_LOCK_TIMEOUT_MS,
      hotPath: true,
    }),
    pool: createPool(url, { ...common, max: commands }),
    warehousePool: createPool(url, { ...common, max: warehouses }),
  };
}

export async function closeAll(pools: Pool[], connection: NativeConnection): Promise<void> {
  for (const pool of pools) await pool.end();
  await connection.close();
}
