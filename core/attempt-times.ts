// How long an attempt may take, of which the workflow and the activity must think alike: the activity never outlives its time, or
// the attempt would be made a second time while the first is under way.

/** The longest deadline that a destination can have (DEST-12), ms. */
const LONGEST_TIMEOUT_MS = 60_000;
/** Loading, the transform, the wait for a near slot: an attempt that is not sent by then is given up, and made anew. */
const PREPARING_MS = 30_000;
/** Recording, while PostgreSQL is away: 30 s and the last statement (activities/attempt/results.ts), ms. */
export const RECORDING_MS = 40_000;

/** What Temporal gives one attempt. Of the longest deadline: that of the destination may have grown since the workflow's start. */
export const ATTEMPT_TIMEOUT_MS = PREPARING_MS + LONGEST_TIMEOUT_MS + RECORDING_MS;
