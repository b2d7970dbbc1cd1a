// One message to a channel of alerts: sent as soon as the channel takes it. Only ids pass through here.
// Rules: ALR-17, ALR-18.
import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { AlertActivities, AlertOutcome, AlertRequest } from '../activities/types.ts';
import { alertTaskQueue } from '../core/temporal/workflow-names.ts';
import { UNTIL_DONE } from './own-side.ts';
import { sendingOptions, sendOrGiveUp } from './sending.ts';

// The activity gives up an hour after the first try that failed; the rest is for the time in the queue before that.
const LIMITS = { longestWaitMs: 300_000, giveUpAfterMs: 7_200_000 };

/**
 * Sends a message; tries for an hour, from 2 s to 5 min apart.
 * @throws ApplicationFailure `NotificationDropped` when it was given up
 */
export function alert(request: AlertRequest): Promise<AlertOutcome> {
  const taskQueue = alertTaskQueue(workflowInfo().taskQueue);
  const { sendAlert } = proxyActivities<AlertActivities>(sendingOptions(taskQueue, LIMITS));
  const { giveUpAlert } = proxyActivities<AlertActivities>({
    taskQueue,
    startToCloseTimeout: 30_000,
    retry: UNTIL_DONE,
  });
  return sendOrGiveUp({
    what: 'message',
    note: 'Sending; while the channel cannot be reached, this is tried again for an hour.',
    send: () => sendAlert(request),
    told: ({ status }) => status,
    giveUp: (reason) => giveUpAlert({ ...request, reason }),
  });
}
