// Notifications in the worker: starts a workflow for each that is due, and runs the activities that send mail, in a
// Temporal worker with few slots of its own, so that a slow mail server never holds what deliveries need.
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { type DataConverter, TypedSearchAttributes } from '@temporalio/common';
import { type NativeConnection, Worker } from '@temporalio/worker';
import { createMailer } from '../outbound/mail.ts';
import { createNotifyActivities } from '../activities/notify.ts';
import { publicUrl, type Settings } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import type { WorkflowLink } from '../core/temporal-link.ts';
import { claimNotifications, type NotificationKey } from '../db/notifications.ts';
import type { Pool } from '../db/pool.ts';
import { mailTaskQueue, notifyWorkflowId, TASK_QUEUE } from '../core/workflow-names.ts';
import type { notify } from '../workflows/notify.ts';
import { organizationIdAttribute, routeIdAttribute } from '../core/search-attributes.ts';
import { type Watch, watch } from './watch.ts';

// How often due notifications are looked for, and how many are started at once.
const LOOK_EVERY_MS = 1000;
const MAX_PER_LOOK = 20;
// Mails sent at the same time.
const MAIL_SLOTS = 10;

export interface NotificationDeps {
  connection: NativeConnection;
  namespace: string;
  dataConverter: DataConverter;
  client: Client;
  pool: Pool;
  settings: Settings;
  workflowLink: WorkflowLink;
  log: Log;
}

export interface Notifications {
  /** Rejects when Temporal's worker ends by an error. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

export async function startNotifications(deps: NotificationDeps): Promise<Notifications> {
  const { settings } = deps;
  const smtp =
    settings.SMTP_URL && settings.HOOKYARD_NOTIFY_FROM
      ? { mailer: createMailer(settings.SMTP_URL), from: settings.HOOKYARD_NOTIFY_FROM }
      : null;
  const worker = await Worker.create({
    connection: deps.connection,
    namespace: deps.namespace,
    dataConverter: deps.dataConverter,
    taskQueue: mailTaskQueue(TASK_QUEUE),
    activities: createNotifyActivities({ ...deps, smtp, apiBase: apiBase(settings) }),
    maxConcurrentActivityTaskExecutions: MAIL_SLOTS,
    shutdownGraceTime: settings.HOOKYARD_SHUTDOWN_SECONDS * 1000,
    shutdownForceTime: settings.HOOKYARD_SHUTDOWN_SECONDS * 1000 + 2000,
  });
  const ended = worker.run();
  const due = watchDue(deps);
  return {
    ended,
    async stop() {
      await due.stop();
      if (worker.getState() === 'RUNNING') worker.shutdown();
      // A forced end rejects; the mail that was cut off is sent again by another worker.
      await ended.catch(() => undefined);
      smtp?.mailer.close();
    },
  };
}

/** A port that is chosen at the start of the API is not known here. */
function apiBase(settings: Settings): string {
  return settings.HOOKYARD_PUBLIC_URL === undefined && settings.HOOKYARD_PORT === 0 ? '' : publicUrl(settings);
}

/** Failure policy: while the database or Temporal is away, notifications wait; a claim that led to nothing lapses. */
function watchDue(deps: NotificationDeps): Watch {
  return watch(async () => (await startDue(deps)) === MAX_PER_LOOK, {
    everyMs: LOOK_EVERY_MS,
    onError: (error) => deps.log.warn({ error: String(error) }, 'notifications wait: the database or Temporal is away'),
  });
}

/** @returns how many were claimed */
async function startDue({ pool, client }: NotificationDeps): Promise<number> {
  const due = await claimNotifications(pool, MAX_PER_LOOK);
  const starts = await Promise.allSettled(due.map((notification) => startNotify(client, notification)));
  for (const start of starts) if (start.status === 'rejected') throw start.reason;
  return due.length;
}

/** One workflow per route and kind at a time; while one runs, what comes in waits for the next. */
async function startNotify(client: Client, due: NotificationKey & { organizationId: string }): Promise<void> {
  const { routeId, kind, organizationId } = due;
  try {
    await client.workflow.start<typeof notify>('notify', {
      workflowId: notifyWorkflowId(routeId, kind),
      taskQueue: TASK_QUEUE,
      args: [{ routeId, kind }],
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
