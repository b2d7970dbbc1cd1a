// What workflows that send one message have in common: a server that is away is tried again, and a message that is given up shows as
// failed in the Temporal UI.
// Rules: ALR-17.
import { type ActivityOptions, ActivityFailure, ApplicationFailure, setCurrentDetails } from '@temporalio/workflow';

// Longer than what the deadlines of a request or a mail add up to.
const ONE_TRY_MS = 180_000;
// A worker that dies while it sends is noticed after this time.
const HEARTBEAT_TIMEOUT_MS = 15_000;

/**
 * The options of the activity that sends: tried again after 2 s, later after twice as long each time.
 * @param limits.longestWaitMs between two tries
 * @param limits.giveUpAfterMs since it was scheduled
 */
export const sendingOptions = (
  taskQueue: string,
  { longestWaitMs, giveUpAfterMs }: { longestWaitMs: number; giveUpAfterMs: number },
): ActivityOptions => ({
  taskQueue,
  startToCloseTimeout: ONE_TRY_MS,
  heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
  scheduleToCloseTimeout: giveUpAfterMs,
  retry: { initialInterval: 2000, backoffCoefficient: 2, maximumInterval: longestWaitMs },
});

export interface Sending<Outcome> {
  /** `message`: what it is called where it was given up. */
  what: string;
  /** Why it may take long. */
  note: string;
  send(): Promise<Outcome>;
  /** What became of it, in a few words. */
  told(outcome: Outcome): string;
  giveUp(reason: string): Promise<void>;
}

/**
 * Sends a message, or gives it up.
 * @throws ApplicationFailure `NotificationDropped` when it was given up
 */
export async function sendOrGiveUp<Outcome>({ what, note, send, told, giveUp }: Sending<Outcome>): Promise<Outcome> {
  setCurrentDetails(note);
  try {
    const outcome = await send();
    setCurrentDetails(told(outcome));
    return outcome;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const reason = error.cause?.message ?? error.message;
    await giveUp(reason);
    setCurrentDetails(`Given up: ${reason}`);
    throw ApplicationFailure.nonRetryable(`The ${what} was given up: ${reason}`, 'NotificationDropped');
  }
}
