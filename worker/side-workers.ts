// The Temporal workers beside the main one: messages, replays and files of warehouses. Each has few slots of its own, so that a
// slow mail server or store never takes resources that deliveries need. What is due for them is claimed by due-workflows.ts.
import { createMessageActivities } from '../activities/messages.ts';
import { createReplayActivities } from '../activities/replay.ts';
import { createWarehouseActivities } from '../activities/warehouse-flush/index.ts';
import { publicUrl, type Settings } from '../core/config/config.ts';
import { FairQueue } from '../core/fairness/fair-queue.ts';
import type { PeopleLinks } from '../core/messages/message.ts';
import { recipientRule } from '../core/messages/recipients.ts';
import { workflowLinks } from '../core/temporal/temporal-link.ts';
import { operatorAccess } from '../core/warehouse/operator-access.ts';
import { messageTaskQueue, replayTaskQueue, warehouseTaskQueue } from '../core/temporal/workflow-names.ts';
import { createStopLink } from '../db/messages/recipients.ts';
import { smtpOf } from '../outbound/mail.ts';
import { createAlertSender } from '../outbound/messages.ts';
import { createWarehouses } from '../outbound/warehouses/index.ts';
import { dueConfirmations } from './confirmations.ts';
import { sharedRest } from './due.ts';
import { dueFlushes, dueMessages, dueReplays } from './due-workflows.ts';
import { createWorker, type RunningWorker, run } from './temporal-worker.ts';
import { version, type WorkerContext, type WorkerParts } from './worker-parts.ts';

// Messages that are sent at the same time by mail, and by HTTP: a silent mail server does not hold up the alert about it.
const MESSAGE_SLOTS = 10;
// Pages created at the same time: half of the command connections at most.
const PAGE_SLOTS = 2;
// Batches in memory at the same time; a destination has one at a time.
const FLUSH_SLOTS = 8;
const MESSAGES_EVERY_MS = 1000;

export async function startSideWorkers(context: WorkerContext, parts: WorkerParts): Promise<RunningWorker[]> {
  const workers = [
    ...(await startMessages(context, parts)),
    await startReplays(context, parts),
    await startFlushes(context, parts),
  ];
  const { due, client, pool, places } = parts;
  const works = { client, pool, log: context.log };
  due.add(dueMessages(works, () => sharedRest(MESSAGES_EVERY_MS, places.workers)));
  due.add(dueReplays(works));
  due.add(dueFlushes(works, context.tuning.warehouseRetrySeconds * 1000));
  return workers;
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

/** One worker for mail and one for HTTP; and the mails that ask the owners of addresses. */
async function startMessages({ settings, temporal, log }: WorkerContext, parts: WorkerParts): Promise<RunningWorker[]> {
  const links = peopleLinks(settings);
  const smtp = smtpOf(settings);
  const rule = () => recipientRule(settings.HOOKYARD_NOTIFY_RECIPIENTS, parts.organizations.areSeveral());
  const stopLink = createStopLink({ secretBox: parts.secretBox, recipientRule: rule }, () => links.apiBase);
  const common = { ...parts, settings, log, smtp, stopLink, recipientRule: rule, ...links };
  if (smtp && links.apiBase !== '') parts.due.add(dueConfirmations({ ...common, smtp, publicUrl: links.apiBase }));
  else if (smtp) log.warn('confirmation mails cannot be sent: set HOOKYARD_PUBLIC_URL');
  const sendAlert = createAlertSender({ ...common, version, publicUrl: () => publicUrl(settings) });
  const activities = createMessageActivities({ ...common, sendAlert, workflowLink: workflowLinks(settings, temporal) });
  const start = (via: 'mail' | 'http', close?: () => void) =>
    startSideWorker(parts, messageTaskQueue(parts.common.taskQueue, via), activities, MESSAGE_SLOTS, close);
  return [await start('mail', () => smtp?.mailer.close()), await start('http')];
}

/** A port that the API chooses at its start is not known here. */
function peopleLinks(settings: Settings): PeopleLinks {
  const isUnknown = settings.HOOKYARD_PUBLIC_URL === undefined && settings.HOOKYARD_PORT === 0;
  return { apiBase: isUnknown ? '' : publicUrl(settings), hasConsole: settings.HOOKYARD_CONSOLE };
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
