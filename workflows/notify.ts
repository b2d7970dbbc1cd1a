// One notification of a route, sent as soon as the mail server accepts it. Only ids and counts pass through here.
import {
  ActivityFailure,
  ApplicationFailure,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { NotificationOutcome, NotificationRequest, NotifyActivities } from '../activities/types.ts';
import { mailTaskQueue } from '../core/workflow-names.ts';

// Longer than what the mail client's own deadlines add up to.
const ONE_TRY_MS = 180_000;
// A worker that dies while it sends is noticed after this time.
const HEARTBEAT_TIMEOUT_MS = 15_000;
const GIVE_UP_AFTER_MS = 24 * 3_600_000;

/**
 * Sends a notification; tries for 24 hours, from 2 s to 10 min apart.
 * @throws ApplicationFailure `NotificationDropped` when it was given up, so that it shows as failed in the Temporal UI
 */
export async function notify(request: NotificationRequest): Promise<NotificationOutcome> {
  const taskQueue = mailTaskQueue(workflowInfo().taskQueue);
  const { sendNotification } = proxyActivities<NotifyActivities>({
    taskQueue,
    startToCloseTimeout: ONE_TRY_MS,
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    scheduleToCloseTimeout: GIVE_UP_AFTER_MS,
    retry: { initialInterval: 2000, backoffCoefficient: 2, maximumInterval: 600_000 },
  });
  const { dropNotification } = proxyActivities<NotifyActivities>({ taskQueue, startToCloseTimeout: 30_000 });
  setCurrentDetails('Sending; while the mail server is away, this is tried again for 24 hours.');
  try {
    const outcome = await sendNotification(request);
    setCurrentDetails(`${outcome.status}, for ${outcome.count} deliveries`);
    return outcome;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const reason = error.cause?.message ?? error.message;
    await dropNotification({ ...request, reason });
    setCurrentDetails(`Given up: ${reason}`);
    throw ApplicationFailure.nonRetryable(`The notification was given up: ${reason}`, 'NotificationDropped');
  }
}
