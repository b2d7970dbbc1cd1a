// One message to people: sent as soon as its receiver takes it. Only ids pass through here.
import {
  ActivityFailure,
  ApplicationFailure,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { MessageActivities, MessageOutcome, MessageRequest } from '../activities/types.ts';
import { messageTaskQueue } from '../core/temporal/names.ts';
import { HEARTBEAT_TIMEOUT_MS, UNTIL_DONE } from './own-side.ts';

// Longer than what the deadlines of a request or a mail add up to.
const ONE_TRY_MS = 180_000;
const HOUR_MS = 3_600_000;
// The activity gives up a message to a channel an hour after the first try that failed; the rest is for the time in the
// queue.
const LIMITS = {
  channel: { longestWaitMs: 300_000, giveUpAfterMs: 2 * HOUR_MS, note: 'an hour' },
  route: { longestWaitMs: 600_000, giveUpAfterMs: 24 * HOUR_MS, note: '24 hours' },
};

/**
 * Sends a message, or gives it up. Tries from 2 s to 5 min apart for an hour, a mail of a route up to 10 min apart for
 * 24 hours.
 * @throws ApplicationFailure `MessageGivenUp` when it was given up, so that it shows as failed in the Temporal UI
 */
export async function message(request: MessageRequest): Promise<MessageOutcome> {
  const { longestWaitMs, giveUpAfterMs, note } = LIMITS[request.to];
  const taskQueue = messageTaskQueue(workflowInfo().taskQueue, request.via);
  const { sendMessage } = proxyActivities<MessageActivities>({
    taskQueue,
    startToCloseTimeout: ONE_TRY_MS,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    scheduleToCloseTimeout: giveUpAfterMs,
    retry: { initialInterval: 2000, backoffCoefficient: 2, maximumInterval: longestWaitMs },
  });
  const { giveUpMessage } = proxyActivities<MessageActivities>({
    taskQueue,
    startToCloseTimeout: 30_000,
    retry: UNTIL_DONE,
  });
  setCurrentDetails(`Sending. If the receiver is unavailable, Hookyard retries for ${note}.`);
  try {
    const outcome = await sendMessage(request);
    setCurrentDetails(outcome.status);
    return outcome;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const reason = error.cause?.message ?? error.message;
    await giveUpMessage({ ...request, reason });
    setCurrentDetails(`Not sent: ${reason}`);
    throw ApplicationFailure.nonRetryable(`The message could not be sent: ${reason}`, 'MessageGivenUp');
  }
}
