// What attempts depend on.
import type { Log } from '../../core/log.ts';
import type { Pool } from '../../db/pool.ts';
import type { Sender } from '../../outbound/http/sender.ts';
import type { Transforms } from '../../outbound/transforms/index.ts';
import type { ConfigCache } from '../config-cache.ts';
import type { PendingOpenings } from './pending-openings.ts';
import type { ContextLoader, ResultRecorder } from './results.ts';

export interface AttemptDeps {
  pool: Pool;
  /** Loads deliveries in groups; undefined for one that does not exist. */
  contexts: ContextLoader;
  configs: ConfigCache;
  transforms: Transforms;
  sender: Sender;
  results: ResultRecorder;
  /** How long an activity waits for its result to be recorded; then its workflow sees to it. ms */
  awaitRecordMs: number;
  /** Ends that wait early: the activity is cut off soon, because its worker ends. */
  ending?: AbortSignal;
  pendingOpenings: PendingOpenings;
  /** Hears when an attempt has its slot of a rate limit. */
  onSlot: (destinationId: string, deliveryId: string) => void;
  /** Learns how quickly each destination answers. */
  observeLatency: (destinationId: string, latencyMs: number) => void;
  /** Hears that the destination is done with an attempt, whose result is yet to be recorded. */
  onAnswered: (deliveryId: string) => void;
  headerPrefix: string;
  version: string;
  log: Log;
}
