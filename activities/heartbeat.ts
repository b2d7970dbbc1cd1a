// Keeps Temporal from taking a long activity for one whose worker has died.
import { heartbeat } from '@temporalio/activity';

// Well below the heartbeat timeouts of the workflows, so that one late beat does not look like a dead worker.
const HEARTBEAT_MS = 4000;

/** Runs the work of an activity, with a heartbeat every few seconds until it has ended. */
export async function withHeartbeat<Result>(work: () => Promise<Result>): Promise<Result> {
  const beat = setInterval(heartbeat, HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}
