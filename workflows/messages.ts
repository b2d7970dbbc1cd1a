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
import type { RetryPolicy } from '../core/backoff.ts';
import type { ErrorSummary } from '../core/error-summary.ts';
import type { ReplayProgress } from '../core/event-replay.ts';

/** What a delivery workflow is started with: ids and the policy as it was then. Never bodies, headers or secrets. */
export interface DeliveryInput {
  organizationId: string;
  eventId: string;
  deliveryId: string;
  retryPolicy: RetryPolicy;
  /** Whether the destination is known to answer quickly; attempt 1 is then a local activity. */
  quick: boolean;
  /** How long a failed delivery stays open for a replay, ms. */
  replayWindowMs: number;
  /** Where a long delivery goes on after its history was cut: the next attempt. */
  resumeAt?: number;
  /** What the run before it leaves to do for the next one. The names stand in histories. */
  carried?: { wishes: DeliveryRequests; slotAt?: number; queued?: boolean };
  /** Where a delivery goes on whose workflow was lost: what its latest recorded attempt has left to do. */
  resumed?: ResumedDelivery;
  /** What the first attempt found, when the relay made it (or, deferred, was to make it): the workflow goes on from there. */
  first?: FirstAttempt;
}

/** What has been asked of a delivery and is not done yet. */
export interface DeliveryRequests {
  retry: boolean;
  cancel: boolean;
  replay: boolean;
  /** The delivery that replays this one, when it exists already. */
  replayedAs?: string;
  release: boolean;
}

/** How far a delivery had come when its workflow was lost. */
export interface ResumedDelivery {
  /** Attempts recorded so far; at least one. */
  attempts: number;
  /** Until the next one, ms. */
  waitMs: number;
  statusCode: number | null;
  error: ErrorSummary | null;
}

/** An outcome of a first attempt after which something is left to do. */
export type FirstAttempt =
  | Extract<AttemptOutcome, { status: 'retrying' | 'deferred' }>
  | { status: 'failed'; statusCode: number | null; error: ErrorSummary | null }
  | UnrecordedAttempt;

/** How a delivery workflow ends. */
export interface DeliveryResult {
  status: 'delivered' | 'failed' | 'failed_over' | 'cancelled' | 'closed';
  attempts: number;
  /** The delivery that replays this one. */
  replayedAs?: string;
  /** The delivery to the failover destination that took over. */
  takenOverBy?: string;
}

/** What a replay workflow is started with; which events it is about stands in the database only. */
export interface ReplayInput {
  organizationId: string;
  replayId: string;
  /** Events per second. */
  ratePerSecond: number;
  /** Where a long replay goes on after its history was cut: how far it was. */
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
/** Lets a delivery go on that its route's circuit held. Sent by the circuit's workflow; when the circuit still holds it, it waits on. */
export const release = defineSignal('release');
export const status = defineQuery<DeliveryStatusView>('status');
/** How far a replay is. */
export const progress = defineQuery<ReplayProgress>('progress');

/** Where the reconciliation goes on after its history was cut. */
export interface ReconcileInput {
  from?: ReconcilePosition;
  /** What was repaired before. */
  repairs?: Repairs;
}

export interface CircuitInput {
  routeId: string;
}

/** Tells that the circuit has changed in PostgreSQL. */
export const circuitChanged = defineSignal('circuitChanged');
/** Closes the circuit and releases what it holds, as `POST /api/routes/{id}/reset-circuit` does. */
export const resetCircuit = defineSignal('resetCircuit');
/** What the workflow knows of the circuit; null before its first look. */
export const circuitStatus = defineQuery<CircuitAdvice | null>('circuitStatus');

export interface WarehouseInput {
  organizationId: string;
  destinationId: string;
  /** How long a delivery is tried to be written, ms from when it was made. */
  retryMs: number;
}

/** Tells that a file may be full, or that the destination was changed: the workflow looks at once. */
export const warehouseChanged = defineSignal('warehouseChanged');
/** What the workflow does or waits for; null before its first look. */
export const warehouseStatus = defineQuery<WarehouseAdvice | null>('warehouseStatus');
