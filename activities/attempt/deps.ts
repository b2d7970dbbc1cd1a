import type { DestinationConcurrency } from '../../core/delivery/destination-concurrency.ts';
import type { FairQueue } from '../../core/fairness/fair-queue.ts';
import type { IssueSink } from '../../core/messages/issues.ts';
import type { Log } from '../../core/process/log.ts';
import type { Tracing } from '../../core/process/tracing.ts';
import type { Pool } from '../../db/connections/pool.ts';
import type { Sender } from '../../outbound/http/sender.ts';
import type { Threads } from '../../outbound/threads/index.ts';
import type { ConfigCache } from '../config-cache.ts';
import type { PendingOpenings } from './admission.ts';
import type { ContextLoader, ResultRecorder } from './results.ts';

export interface AttemptDeps {
  pool: Pool;
  /** Loads deliveries in groups; undefined for one that does not exist. */
  contexts: ContextLoader;
  /**
   * Bytes of large payloads, from before one is loaded until its attempt has ended. Without this limit as many as may
   * be in flight could be held at a time, each of the maximum size.
   */
  bodies: FairQueue;
  /** How long an attempt waits for room among them, ms. */
  bodyWaitMs: number;
  configs: ConfigCache;
  threads: Threads;
  sender: Sender;
  results: ResultRecorder;
  issues: IssueSink;
  /** How long an activity waits for its result to be recorded; then its workflow takes care of it. ms */
  awaitRecordMs: number;
  /** Ends that wait early: the worker is shutting down and will cut the activity off. */
  ending?: AbortSignal;
  pendingOpenings: PendingOpenings;
  isSuspended: (organizationId: string) => boolean;
  onSlot: (destinationId: string, deliveryId: string) => void;
  concurrency: DestinationConcurrency;
  hasPermit: (deliveryId: string) => boolean;
  /** Called when a destination that had no slot left has one again. */
  onRoom: () => void;
  /** Called when the destination has answered an attempt whose result is not recorded yet. */
  onAnswered: (deliveryId: string) => void;
  /** Undefined: traces are not sent. */
  tracing?: Tracing | undefined;
  headerPrefix: string;
  version: string;
  log: Log;
}
