// Every signal and query of Hookyard's workflows, with their types: what the API, operators and tests may send.
import { defineQuery, defineSignal } from '@temporalio/workflow';
import type {
  AttemptOutcome,
  CircuitAdvice,
  ReconcilePosition,
  Repairs,
  UnrecordedAttempt,
  WarehouseAdvice,
} from '../activities/types.ts';
import type { RetryPolicy } from '../core/delivery/backoff.ts';
import type { ErrorSummary } from '../core/text/error-summary.ts';
import type { ReplayProgress } from '../core/delivery/event-replay.ts';
import type { ResumedDelivery } from '../core/delivery/delivery.ts';

/** The input of a delivery workflow: ids and the policy at its start. Never bodies, headers or secrets. */
export interface DeliveryInput {
  organizationId: string;
  eventId: string;
  deliveryId: string;
  retryPolicy: RetryPolicy;
  /** Whether the destination is known to answer quickly; attempt 1 is then a local activity. */
  quick: boolean;
  /** How long a failed delivery stays open for a replay, ms. */
  replayWindowMs: number;
  /** After a continue-as-new: the next attempt. */
  resumeAt?: number;
  /** What the run before hands over. */
  carried?: { requests: DeliveryRequests; slotAt?: number; queued?: boolean };
  /**
   * For a delivery whose workflow was lost: how it continues after its latest recorded attempt, of which there is one
   * at least.
   */
  resumed?: ResumedDelivery;
  first?: FirstAttempt;
}

export interface DeliveryRequests {
  retry: boolean;
  cancel: boolean;
  replay: boolean;
  replayedAs?: string;
  release: boolean;
}

/** An outcome of a first attempt after which something is left to do. */
export type FirstAttempt =
  | Extract<AttemptOutcome, { status: 'retrying' | 'deferred' }>
  | { status: 'failed'; statusCode: number | null; error: ErrorSummary | null }
  | UnrecordedAttempt;

export interface DeliveryResult {
  status: 'delivered' | 'failed' | 'failed_over' | 'cancelled' | 'closed';
  attempts: number;
  replayedAs?: string;
  takenOverBy?: string;
}

/** The input of a replay workflow; the selection of events is in the database only. */
export interface ReplayInput {
  organizationId: string;
  replayId: string;
  /** Events per second. */
  ratePerSecond: number;
  /** After a continue-as-new: the progress. */
  resumeFrom?: ReplayProgress;
}

/** What the query `status` answers. */
export interface DeliveryStatusView {
  deliveryId: string;
  status: 'pending' | 'retrying' | 'circuit_open' | 'failed' | 'failed_over' | 'delivered' | 'cancelled' | 'closed';
  attempts: number;
  maxAttempts: number;
  lastError: string | null;
  lastStatusCode: number | null;
  /** ISO 8601; null when no attempt is waiting. */
  nextAttemptAt: string | null;
}

/** Makes the next attempt now instead of at the end of the wait; during an attempt: right after it, should it fail. */
export const retryNow = defineSignal('retryNow');
/** Ends the delivery or replay; a running attempt or page is not interrupted, but no other follows. */
export const cancel = defineSignal('cancel');
/**
 * Delivers a failed delivery again as a new delivery. Without an argument the workflow creates it; the API, which has
 * created it already, names it.
 */
export const replay = defineSignal<[replayedAs?: string]>('replay');
/**
 * Releases a delivery that its route's circuit held. Sent by the circuit's workflow; if the circuit still blocks it, it
 * keeps waiting.
 */
export const release = defineSignal('release');
export const status = defineQuery<DeliveryStatusView>('status');
export const progress = defineQuery<ReplayProgress>('progress');

/** After a continue-as-new: the position of the reconciliation. */
export interface ReconcileInput {
  from?: ReconcilePosition;
  /** What was repaired before. */
  repairs?: Repairs;
}

export interface CircuitInput {
  organizationId: string;
  routeId: string;
}

export const circuitChanged = defineSignal('circuitChanged');
export const resetCircuit = defineSignal('resetCircuit');
/** The state of the circuit as the workflow knows it; null before its first check. */
export const circuitStatus = defineQuery<CircuitAdvice | null>('circuitStatus');

export interface WarehouseInput {
  organizationId: string;
  destinationId: string;
  /** How long writing a delivery is retried, ms since its creation. */
  retryMs: number;
}

/** A file may be full, or the destination was changed: the workflow checks at once. */
export const warehouseChanged = defineSignal('warehouseChanged');
/** What the workflow does or waits for; null before its first check. */
export const warehouseStatus = defineQuery<WarehouseAdvice | null>('warehouseStatus');
