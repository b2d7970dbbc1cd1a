// A delivery: its statuses, who makes its first attempt, how long an attempt may take, and how it resumes.
import type { ErrorSummary } from '../text/error-summary.ts';

export const OPEN_STATUSES = ['pending', 'retrying', 'circuit_open'] as const;

export const DELIVERY_STATUSES = [
  ...OPEN_STATUSES,
  'delivered',
  'failed',
  'failed_over',
  'schema_failed',
  'filter_failed',
  'skipped',
  'cancelled',
] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export const isOpenStatus = (status: string): boolean => (OPEN_STATUSES as readonly string[]).includes(status);

// Who makes the first attempt of a delivery: its workflow, or the relay, which starts a workflow only when something is
// left to do. Records, statuses and guarantees are the same in both.

export const LANES = ['workflow', 'express'] as const;
export type Lane = (typeof LANES)[number];

// What a service or a route may be set to. `adaptive`: each worker chooses one of the two for each delivery
// (lane-rule.ts).
export const LANE_SETTINGS = ['adaptive', ...LANES] as const;
export type LaneSetting = (typeof LANE_SETTINGS)[number];

// Time limits of an attempt, shared by the workflow and the activity: the activity must never exceed its timeout, or
// the attempt would be made a second time while the first is still running.

/** The longest deadline that a destination can have, ms. */
export const LONGEST_TIMEOUT_MS = 60_000;
/** Loading, the transform, the wait for a slot: an attempt that is not sent by then is given up and retried. */
const PREPARING_MS = 30_000;
/** Recording, while PostgreSQL is down: 30 s (worker/temporal/workers.ts), and the statement that runs then, ms. */
export const RECORDING_MS = 40_000;

/**
 * Temporal's timeout for one attempt. Based on the longest deadline, because the destination's may have been raised
 * since the workflow's start.
 */
export const ATTEMPT_TIMEOUT_MS = PREPARING_MS + LONGEST_TIMEOUT_MS + RECORDING_MS;

export interface ResumedDelivery {
  attempts: number;
  /** Until the next one, ms. */
  waitMs: number;
  statusCode: number | null;
  error: ErrorSummary | null;
}

// The methods by which webhooks come in and are delivered.
export const METHODS = ['POST', 'PUT', 'PATCH'] as const;
export type DeliveryMethod = (typeof METHODS)[number];
