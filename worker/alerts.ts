// Alerts in the worker: creates the messages that channels are due, starts a workflow for each, and runs the activities that send
// them, in a separate Temporal worker with few slots.
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { createAlertActivities } from '../activities/alerts.ts';
import { publicUrl, type Settings } from '../core/config.ts';
import type { RecipientRule } from '../core/notify-recipients.ts';
import type { PeopleLinks } from '../core/people-link.ts';
import { organizationIdAttribute } from '../core/search-attributes.ts';
import { settleAll } from '../core/settle-all.ts';
import { alertTaskQueue, alertWorkflowId, TASK_QUEUE } from '../core/workflow-names.ts';
import { createDueMessages } from '../db/alerts/due.ts';
import { claimMessages, type DueMessage, noteStarted } from '../db/alerts/messages.ts';
import type { SecretBox } from '../db/encryption/secret-box.ts';
import { createStopLink } from '../db/notifications/stop-link.ts';
import type { Pool } from '../db/connections/pool.ts';
import { createAlertSender } from '../outbound/alerts.ts';
import type { Sender } from '../outbound/http/sender.ts';
import { smtpOf } from '../outbound/mail.ts';
import { inTurnOf } from '../temporal-config/fairness.ts';
import type { alert } from '../workflows/alert.ts';
import { type RunningWorker, startSideWorker, type SideWorkerDeps } from './temporal-worker.ts';

// Messages started per claim.
const MAX_PER_LOOK = 20;
// Messages sent at the same time.
const ALERT_SLOTS = 10;

export interface AlertWorkerDeps extends SideWorkerDeps, PeopleLinks {
  client: Client;
  /** For commands. */
  pool: Pool;
  settings: Settings;
  secretBox: SecretBox;
  recipientRule: () => RecipientRule;
  sender: Sender;
  /** Hookyard's own. */
  version: string;
}

export function startAlerts(deps: AlertWorkerDeps): Promise<RunningWorker> {
  const smtp = smtpOf(deps.settings);
  const send = createAlertSender({
    ...deps,
    smtp,
    stopLink: createStopLink(deps, () => deps.apiBase),
    publicUrl: () => publicUrl(deps.settings),
  });
  const look = alertRounds(deps.pool);
  return startSideWorker(deps, {
    taskQueue: alertTaskQueue(deps.taskQueue),
    activities: createAlertActivities({ ...deps, send, hasMail: smtp !== null }),
    slots: ALERT_SLOTS,
    async startDue() {
      // What is there is started also when nothing new can be made.
      const [looked, started] = await Promise.allSettled([look(), startDue(deps)]);
      if (looked.status === 'rejected') throw looked.reason;
      if (started.status === 'rejected') throw started.reason;
      return started.value === MAX_PER_LOOK;
    },
    what: 'alerts',
    close: () => smtp?.mailer.close(),
  });
}

/** Rounds of one process: it keeps its place, so that every channel has its turn. */
export function alertRounds(pool: Pool): () => Promise<void> {
  let place = '';
  return async () => {
    const round = await createDueMessages(pool, place);
    // Another process is at it: this one continues where it was.
    if (round !== null) place = round.next;
  };
}

/** @returns how many were claimed */
async function startDue({ pool, client }: AlertWorkerDeps): Promise<number> {
  const due = await claimMessages(pool, MAX_PER_LOOK);
  const started: DueMessage[] = [];
  try {
    await settleAll(due.map(async (message) => started.push(await start(client, message))));
  } finally {
    await noteStarted(pool, started);
  }
  return due.length;
}

/** A message whose workflow was lost or terminated is started again; one that was sent has no row any more. */
async function start(client: Client, message: DueMessage): Promise<DueMessage> {
  const { organizationId, messageId, channelId, kind, changes } = message;
  const [told] = changes;
  const isOfOneIssue = kind === 'change' && told !== undefined;
  try {
    await client.workflow.start<typeof alert>('alert', {
      workflowId: alertWorkflowId(channelId, isOfOneIssue ? told : messageId),
      taskQueue: TASK_QUEUE,
      args: [{ organizationId, messageId }],
      ...inTurnOf(organizationId),
      staticSummary: `Alert: ${isOfOneIssue ? told.change : kind}`,
      typedSearchAttributes: new TypedSearchAttributes([{ key: organizationIdAttribute, value: organizationId }]),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  return message;
}
