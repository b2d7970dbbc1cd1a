// One notification of a route, sent as soon as the mail server accepts it. Only ids and counts pass through here.
import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { NotificationOutcome, NotificationRequest, NotifyActivities } from '../activities/types.ts';
import { mailTaskQueue } from '../core/temporal/workflow-names.ts';
import { sendingOptions, sendOrGiveUp } from './sending.ts';

const LIMITS = { longestWaitMs: 600_000, giveUpAfterMs: 24 * 3_600_000 };

/**
 * Sends a notification; tries for 24 hours, from 2 s to 10 min apart.
 * @throws ApplicationFailure `NotificationDropped` when it was given up, so that it shows as failed in the Temporal UI
 */
export function notify(request: NotificationRequest): Promise<NotificationOutcome> {
  const taskQueue = mailTaskQueue(workflowInfo().taskQueue);
  const { sendNotification } = proxyActivities<NotifyActivities>(sendingOptions(taskQueue, LIMITS));
  const { dropNotification } = proxyActivities<NotifyActivities>({ taskQueue, startToCloseTimeout: 30_000 });
  return sendOrGiveUp({
    what: 'notification',
    note: 'Sending; while the mail server is away, this is tried again for 24 hours.',
    send: () => sendNotification(request),
    told: ({ status, count }) => `${status}, for ${count} deliveries`,
    giveUp: (reason) => dropNotification({ ...request, reason }),
  });
}
