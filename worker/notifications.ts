// Notifications in the worker: starts a workflow for each that is due, and runs the activities that send mail, in a separate
// Temporal worker with few slots, so that a slow mail server never takes resources that deliveries need.
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { type Smtp, smtpOf } from '../outbound/mail.ts';
import { createNotifyActivities } from '../activities/notify.ts';
import { publicUrl, type Settings } from '../core/config.ts';
import type { IssueSink } from '../core/issues.ts';
import type { RecipientRule } from '../core/notify-recipients.ts';
import type { PeopleLinks } from '../core/people-link.ts';
import { settleAll } from '../core/settle-all.ts';
import type { WorkflowLink } from '../core/temporal-link.ts';
import { claimNotifications, type NotificationKey } from '../db/notifications/notifications.ts';
import type { SecretBox } from '../db/encryption/secret-box.ts';
import { createStopLink } from '../db/notifications/stop-link.ts';
import type { Pool } from '../db/connections/pool.ts';
import { mailTaskQueue, notifyWorkflowId, TASK_QUEUE } from '../core/workflow-names.ts';
import { inTurnOf } from '../temporal-config/fairness.ts';
import type { notify } from '../workflows/notify.ts';
import { organizationIdAttribute, routeIdAttribute } from '../core/search-attributes.ts';
import { startConfirmations } from './confirmations.ts';
import { type RunningWorker, startSideWorker, type SideWorkerDeps } from './temporal-worker.ts';

// Notifications started per claim.
const MAX_PER_LOOK = 20;
// Mails sent at the same time.
const MAIL_SLOTS = 10;

export interface NotificationDeps extends SideWorkerDeps {
  client: Client;
  pool: Pool;
  settings: Settings;
  workflowLink: WorkflowLink;
  secretBox: SecretBox;
  recipientRule: () => RecipientRule;
  issues: IssueSink;
}

export async function startNotifications(deps: NotificationDeps): Promise<RunningWorker> {
  const { settings } = deps;
  const smtp = smtpOf(settings);
  const confirmations = smtp && confirm(deps, smtp);
  return startSideWorker(deps, {
    taskQueue: mailTaskQueue(deps.taskQueue),
    activities: createNotifyActivities({
      ...deps,
      smtp,
      ...peopleLinks(settings),
      stopLink: createStopLink(deps, () => peopleLinks(settings).apiBase),
    }),
    slots: MAIL_SLOTS,
    startDue: async () => (await startDue(deps)) === MAX_PER_LOOK,
    what: 'notifications',
    async close() {
      await confirmations?.stop();
      smtp?.mailer.close();
    },
  });
}

function confirm(deps: NotificationDeps, smtp: Smtp): { stop(): Promise<void> } | null {
  const { apiBase: publicUrl } = peopleLinks(deps.settings);
  if (publicUrl !== '') return startConfirmations({ ...deps, smtp, publicUrl });
  deps.log.warn('confirmation mails cannot be sent: set HOOKYARD_PUBLIC_URL');
  return null;
}

/** A port that the API chooses at its start is not known here. */
export function peopleLinks(settings: Settings): PeopleLinks {
  const isUnknown = settings.HOOKYARD_PUBLIC_URL === undefined && settings.HOOKYARD_PORT === 0;
  return { apiBase: isUnknown ? '' : publicUrl(settings), hasConsole: settings.HOOKYARD_CONSOLE };
}

/** @returns how many were claimed */
async function startDue({ pool, client }: NotificationDeps): Promise<number> {
  const due = await claimNotifications(pool, MAX_PER_LOOK);
  await settleAll(due.map((notification) => startNotify(client, notification)));
  return due.length;
}

/** One workflow per route and kind at a time; new notifications wait for the next one. */
async function startNotify(client: Client, due: NotificationKey & { organizationId: string }): Promise<void> {
  const { routeId, kind, organizationId } = due;
  try {
    await client.workflow.start<typeof notify>('notify', {
      workflowId: notifyWorkflowId(routeId, kind),
      taskQueue: TASK_QUEUE,
      args: [{ routeId, kind }],
      ...inTurnOf(organizationId),
      staticSummary: `Notification: ${kind}`,
      typedSearchAttributes: new TypedSearchAttributes([
        { key: organizationIdAttribute, value: organizationId },
        { key: routeIdAttribute, value: routeId },
      ]),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
