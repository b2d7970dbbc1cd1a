// Time limits of an attempt, shared by the workflow and the activity: the activity must never exceed its timeout, or the attempt
// would be made a second time while the first is still running.

/** The longest deadline that a destination can have (DEST-12), ms. */
export const LONGEST_TIMEOUT_MS = 60_000;
/** Loading, the transform, the wait for a slot: an attempt that is not sent by then is given up and retried. */
const PREPARING_MS = 30_000;
/** Recording, while PostgreSQL is down: 30 s (worker/main-worker.ts), and the statement that runs then, ms. */
export const RECORDING_MS = 40_000;

/**
 * Temporal's timeout for one attempt. Based on the longest deadline, because the destination's may have been raised since the
 * workflow's start.
 */
export const ATTEMPT_TIMEOUT_MS = PREPARING_MS + LONGEST_TIMEOUT_MS + RECORDING_MS;
