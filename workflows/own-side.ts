// What the workflows share: how long a history may get, and failures of our own infrastructure (PostgreSQL, a worker).
// An error that is not one of Temporal's is a bug in workflow code and is rethrown: Temporal then shows the workflow
// task as failed, and retries it until the code is fixed.
import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  log,
  type RetryPolicy,
  setHandler,
  type SignalDefinition,
  TemporalFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { errorText } from '../core/text/error-summary.ts';
import { plain } from '../core/temporal/operator-markdown.ts';

const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 30_000;
// Of an error, as Current Details have it.
const LONGEST_CAUSE = 500;
// Errors that only a bug in an activity throws.
const DEFECTS = ['TypeError', 'ReferenceError', 'RangeError', 'SyntaxError', 'AssertionError'];

/**
 * The retry policy of idempotent activities. Temporal retries them, without an event in the history, until our
 * infrastructure is back; the workflow's page shows the try and its cause under "Pending Activities".
 */
export const UNTIL_DONE: RetryPolicy = {
  initialInterval: FIRST_WAIT_MS,
  backoffCoefficient: 2,
  maximumInterval: MAX_WAIT_MS,
};

/** A worker that dies during an activity is noticed after this time. */
export const HEARTBEAT_TIMEOUT_MS = 15_000;

/** The retry policy of activities that this workflow's own code repeats. */
export const ONCE: RetryPolicy = { maximumAttempts: 1 };

export interface Away {
  /** Until the next try, ms. */
  waitMs: number;
  /** For Current Details: that it is tried again, and the cause. */
  details: string;
}

/**
 * Evaluates and logs the error of an activity.
 * @param failures how often it has failed in a row before
 * @throws the error itself when it is not from an activity, or is a cancellation
 */
export function awayBy(error: unknown, failures: number): Away {
  if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error;
  // A regular activity's error is wrapped, a local one's is not.
  const { type, message, stack } = facts(error instanceof ActivityFailure ? (error.cause ?? error) : error);
  const waitMs = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
  log.warn('activity failed; trying again', { error: message, stack, waitMs });
  const what = DEFECTS.includes(type)
    ? 'Internal Hookyard error (please report it with the cause)'
    : 'Hookyard cannot reach its database or a worker';
  return { waitMs, details: `${what}; trying again in ${waitMs / 1000} s. Cause: ${plain(message)}` };
}

function facts(cause: Error): { type: string; message: string; stack: string } {
  const type = (cause instanceof ApplicationFailure && cause.type) || cause.name;
  // Of the stack the frames only: it begins with the message.
  const { stack: whole = '' } = cause;
  const stack = whole.slice(Math.max(0, whole.search(/^ +at /m)));
  return { type, message: `${type}: ${errorText(cause.message)}`.slice(0, LONGEST_CAUSE), stack };
}

export const OWN_SIDE = 'Waiting for Hookyard';

// About a hundred attempts or pages. Well before Temporal suggests it: a worker that takes a workflow over replays its
// history first.
const MAX_HISTORY_EVENTS = 1000;

export function isLong(): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return continueAsNewSuggested || historyLength >= MAX_HISTORY_EVENTS;
}

/** Handles a signal that only has to be noted, until whoever waits for it has seen it. */
export function note<Request extends string>(
  signal: SignalDefinition<[]>,
  requests: Record<Request, boolean>,
  request: Request,
  description: string,
): void {
  const handler = () => {
    requests[request] = true;
  };
  setHandler(signal, handler, { description });
}
