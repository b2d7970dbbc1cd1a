// The Temporal workers beside the main one: mails, alerts, replays and files of warehouses. Each has few slots of its own, so that a
// slow mail server or store never takes resources that deliveries need. What is due for them is claimed by due-workflows.ts.
import { createAlertActivities } from '../activities/alerts.ts';
import { createNotifyActivities } from '../activities/notify.ts';
import { createReplayActivities } from '../activities/replay.ts';
import { createWarehouseActivities } from '../activities/warehouse-flush/index.ts';
import { publicUrl, type Settings } from '../core/config/config.ts';
import { FairQueue } from '../core/fairness/fair-queue.ts';
import { recipientRule } from '../core/messages/notify-recipients.ts';
import type { PeopleLinks } from '../core/messages/people-link.ts';
import { workflowLinks } from '../core/temporal/temporal-link.ts';
import { operatorAccess } from '../core/warehouse/operator-access.ts';
import { alertTaskQueue, mailTaskQueue, replayTaskQueue, warehouseTaskQueue } from '../core/temporal/workflow-names.ts';
import { createStopLink } from '../db/notifications/stop-link.ts';
import { createAlertSender } from '../outbound/alerts.ts';
import { smtpOf } from '../outbound/mail.ts';
import { createWarehouses } from '../outbound/warehouses/index.ts';
import { dueConfirmations } from './confirmations.ts';
import { sharedRest } from './due.ts';
import { dueAlerts, dueFlushes, dueNotifications, dueReplays } from './due-workflows.ts';
import { createWorker, type RunningWorker, run } from './temporal-worker.ts';
import { version, type WorkerContext, type WorkerParts } from './worker-parts.ts';

// Mails, and messages to channels, that are sent at the same time.
const MAIL_SLOTS = 10;
const ALERT_SLOTS = 10;
// Pages created at the same time: half of the command connections at most.
const PAGE_SLOTS = 2;
// Batches in memory at the same time; a destination has one at a time.
const FLUSH_SLOTS = 8;
const ALERTS_EVERY_MS = 1000;

export async function startSideWorkers(context: WorkerContext, parts: WorkerParts): Promise<RunningWorker[]> {
  const { settings, log } = context;
  const { due, organizations } = parts;
  const links = peopleLinks(settings);
  const rule = () => recipientRule(settings.HOOKYARD_NOTIFY_RECIPIENTS, organizations.areSeveral());
  const stopLink = createStopLink({ secretBox: parts.secretBox, recipientRule: rule }, () => links.apiBase);
  const common: MailParts = { ...parts, settings, log, recipientRule: rule, stopLink, ...links };
  const workers = [
    await startMails(context, parts, common),
    await startAlerts(parts, common),
    await startReplays(context, parts),
    await startFlushes(context, parts),
  ];
  const works = { client: parts.client, pool: parts.pool, log };
  due.add(dueNotifications(works));
  due.add(dueAlerts(works, () => sharedRest(ALERTS_EVERY_MS, parts.places.workers)));
  due.add(dueReplays(works));
  due.add(dueFlushes(works, context.tuning.warehouseRetrySeconds * 1000));
  return workers;
}

interface MailParts extends WorkerParts, PeopleLinks {
  settings: Settings;
  log: WorkerContext['log'];
  recipientRule: () => ReturnType<typeof recipientRule>;
  stopLink: ReturnType<typeof createStopLink>;
}

/** @param close closes the resources of its activities */
async function startSideWorker(
  { common }: Pick<WorkerParts, 'common'>,
  taskQueue: string,
  activities: object,
  slots: number,
  close?: () => void | Promise<void>,
): Promise<RunningWorker> {
  const worker = run(await createWorker(common, { taskQueue, activities, maxConcurrentActivityTaskExecutions: slots }));
  return {
    ...worker,
    async stop() {
      await worker.stop();
      await close?.();
    },
  };
}

async function startMails({ temporal }: WorkerContext, parts: WorkerParts, common: MailParts): Promise<RunningWorker> {
  const { settings, log } = common;
  const smtp = smtpOf(settings);
  const publicUrl = common.apiBase;
  if (smtp && publicUrl !== '') parts.due.add(dueConfirmations({ ...common, smtp, publicUrl }));
  else if (smtp) log.warn('confirmation mails cannot be sent: set HOOKYARD_PUBLIC_URL');
  const activities = createNotifyActivities({ ...common, smtp, workflowLink: workflowLinks(settings, temporal) });
  return startSideWorker(parts, mailTaskQueue(parts.common.taskQueue), activities, MAIL_SLOTS, () =>
    smtp?.mailer.close(),
  );
}

/** A port that the API chooses at its start is not known here. */
function peopleLinks(settings: Settings): PeopleLinks {
  const isUnknown = settings.HOOKYARD_PUBLIC_URL === undefined && settings.HOOKYARD_PORT === 0;
  return { apiBase: isUnknown ? '' : publicUrl(settings), hasConsole: settings.HOOKYARD_CONSOLE };
}

function startAlerts(parts: WorkerParts, common: MailParts): Promise<RunningWorker> {
  const { settings } = common;
  const smtp = smtpOf(settings);
  const send = createAlertSender({ ...common, smtp, version, publicUrl: () => publicUrl(settings) });
  const activities = createAlertActivities({ ...common, send, hasMail: smtp !== null });
  return startSideWorker(parts, alertTaskQueue(parts.common.taskQueue), activities, ALERT_SLOTS, () =>
    smtp?.mailer.close(),
  );
}

function startReplays({ settings, log }: WorkerContext, parts: WorkerParts): Promise<RunningWorker> {
  const activities = createReplayActivities({ ...parts, settings, log });
  return startSideWorker(parts, replayTaskQueue(parts.common.taskQueue), activities, PAGE_SLOTS);
}

function startFlushes({ settings, env, log }: WorkerContext, parts: WorkerParts): Promise<RunningWorker> {
  const warehouses = createWarehouses({ ...parts.reach, access: operatorAccess(settings, env) });
  const places = new FairQueue(FLUSH_SLOTS);
  const deps = { ...parts, pool: parts.warehousePool, settings, log, warehouses, places };
  return startSideWorker(
    parts,
    warehouseTaskQueue(parts.common.taskQueue),
    createWarehouseActivities(deps),
    FLUSH_SLOTS,
    () => warehouses.close(),
  );
}
