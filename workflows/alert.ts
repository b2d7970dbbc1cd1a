// One message to a channel of alerts: sent as soon as the channel takes it. Only ids pass through here. A type of its own, so that a
// worker of the release before, which knows only mails, does not take it for one.
// Rules: ALR-17, ALR-18.
import {
  ActivityFailure,
  ApplicationFailure,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { AlertActivities, AlertOutcome, AlertRequest } from '../activities/types.ts';
import { alertTaskQueue } from '../core/workflow-names.ts';
import { UNTIL_DONE } from './own-side.ts';

// Longer than what the deadlines of a request or a mail add up to.
const ONE_TRY_MS = 180_000;
// A worker that dies while it sends is noticed after this time.
const HEARTBEAT_TIMEOUT_MS = 15_000;
// The activity gives up an hour after the first try that failed; the rest is for the time in the queue before that.
const GIVE_UP_AFTER_MS = 7_200_000;

/**
 * Sends a message; tries for an hour, from 2 s to 5 min apart.
 * @throws ApplicationFailure `NotificationDropped` when it was given up
 */
export async function alert(request: AlertRequest): Promise<AlertOutcome> {
  const taskQueue = alertTaskQueue(workflowInfo().taskQueue);
  const { sendAlert } = proxyActivities<AlertActivities>({
    taskQueue,
    startToCloseTimeout: ONE_TRY_MS,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    scheduleToCloseTimeout: GIVE_UP_AFTER_MS,
    retry: { initialInterval: 2000, backoffCoefficient: 2, maximumInterval: 300_000 },
  });
  const { giveUpAlert } = proxyActivities<AlertActivities>({
    taskQueue,
    startToCloseTimeout: 30_000,
    retry: UNTIL_DONE,
  });
  setCurrentDetails('Sending; while the channel cannot be reached, this is tried again for an hour.');
  try {
    const outcome = await sendAlert(request);
    setCurrentDetails(outcome.status);
    return outcome;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const reason = error.cause?.message ?? error.message;
    await giveUpAlert({ ...request, reason });
    setCurrentDetails(`Given up: ${reason}`);
    throw ApplicationFailure.nonRetryable(`The message was given up: ${reason}`, 'NotificationDropped');
  }
}
