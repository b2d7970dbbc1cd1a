// The Temporal workers of this process: the main one for workflows and the activities that deliver, and those for
// mails, alerts, replays and files of warehouses. Each of these has few slots of its own, so that a slow mail server or
// store never takes resources that deliveries need. What is due for them is claimed by loops/due-workflows.ts.

import { PendingOpenings } from '../../activities/attempt/admission.ts';
import { createContextLoader } from '../../activities/attempt/results.ts';
import { type ActivityDeps, createActivities } from '../../activities/index.ts';
import { createMessageActivities } from '../../activities/messages.ts';
import { createReplayActivities } from '../../activities/replay.ts';
import { createWarehouseActivities } from '../../activities/warehouse-flush/index.ts';
import { publicUrl, type Settings } from '../../core/config/config.ts';
import { FairQueue } from '../../core/fairness/fair-queue.ts';
import type { PeopleLinks } from '../../core/messages/message.ts';
import { recipientRule } from '../../core/messages/route-mails.ts';
import { messageTaskQueue, replayTaskQueue, warehouseTaskQueue, workflowLinks } from '../../core/temporal/names.ts';
import { operatorAccess } from '../../core/warehouse/operator-access.ts';
import { createStopLink } from '../../db/messages/recipients.ts';
import { smtpOf } from '../../outbound/mail.ts';
import { createAlertSender } from '../../outbound/messages.ts';
import { createWarehouses } from '../../outbound/warehouses/index.ts';
import { dueConfirmations } from '../loops/confirmations.ts';
import { sharedRest } from '../loops/due.ts';
import { dueFlushes, dueMessages, dueReplays } from '../loops/due-workflows.ts';
import { ACTIVITY_SLOTS, type RelayLink, version, type WorkerContext, type WorkerParts } from '../worker-parts.ts';
import { createWorker, type RunningWorker, run } from './connect.ts';

// Slots are fixed. Of workflow tasks, there are as many as an organization may have workflows in flight
// (worker/worker.ts): an eager start without a free slot becomes an ordinary one. More would not make them faster. When
// many workflows start at once, every task would wait here for its turn, longer than Temporal waits for it (10 s); it
// would be made again elsewhere, and what was done of it be lost.
const WORKFLOW_TASK_SLOTS = 200;
const CACHED_WORKFLOWS = 5000;
// Circuits that release what they hold at a time: each asks the database many times a second. Three quarters, which one
// organization may have, are 32.
const CIRCUIT_RELEASES = 43;
// The large payloads of all attempts together. An organization may hold as much as it leaves free, so one that is alone
// has half.
const LARGE_BODY_BYTES = 256 * 1024 * 1024;
// How long an attempt waits for room among them, with its slot in flight. Then it waits outside of this process.
const BODY_WAIT_MS = 5000;
// How long an activity waits for its result to be recorded. Less than the margin the workflow leaves for it.
const AWAIT_RECORD_MS = 30_000;

export function activityDepsOf(
  { settings, tuning, log }: WorkerContext,
  parts: WorkerParts,
  link: RelayLink,
): ActivityDeps {
  const { hotPool, due, lanes, traces } = parts;
  return {
    ...parts,
    settings,
    tuning,
    log,
    releases: new FairQueue(CIRCUIT_RELEASES),
    awaitRecordMs: AWAIT_RECORD_MS,
    pendingOpenings: new PendingOpenings(),
    isSuspended: (organizationId) => due.now.suspended.has(organizationId),
    contexts: createContextLoader(hotPool),
    bodies: new FairQueue(LARGE_BODY_BYTES, 1),
    bodyWaitMs: BODY_WAIT_MS,
    hasPermit: (deliveryId) => link.relay?.hasPermit(deliveryId) ?? false,
    onRoom: () => link.relay?.onRoom(),
    onSlot: (destinationId, deliveryId) => link.relay?.slotTaken(destinationId, deliveryId),
    tracing: traces.tracing,
    headerPrefix: settings.HOOKYARD_HEADER_PREFIX,
    version,
    onBegun: lanes.begun,
    onAnswered(deliveryId) {
      due.active();
      link.relay?.answered(deliveryId);
    },
    onRecorded: (deliveryId) => link.relay?.recorded(deliveryId),
  };
}

export async function startMainWorker(
  { common, workflowBundle }: Pick<WorkerParts, 'common' | 'workflowBundle'>,
  deps: ActivityDeps,
): Promise<RunningWorker> {
  const activities = createActivities(deps);
  const worker = await createWorker(common, {
    taskQueue: common.taskQueue,
    workflowBundle,
    activities,
    maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASK_SLOTS,
    maxConcurrentLocalActivityExecutions: ACTIVITY_SLOTS,
    maxConcurrentActivityTaskExecutions: ACTIVITY_SLOTS,
    maxCachedWorkflows: CACHED_WORKFLOWS,
  });
  return run(worker);
}

// Messages that are sent at the same time by mail, and by HTTP: a silent mail server does not hold up the alert about
// it.
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
  const { due, client, pool, concurrency } = parts;
  const works = { client, pool, log: context.log };
  due.add(dueMessages(works, () => sharedRest(MESSAGES_EVERY_MS, concurrency.workers)));
  due.add(dueReplays(works));
  due.add(dueFlushes(works, context.tuning.warehouseRetrySeconds * 1000));
  return workers;
}

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

async function startMessages({ settings, temporal, log }: WorkerContext, parts: WorkerParts): Promise<RunningWorker[]> {
  const links = peopleLinks(settings);
  const smtp = smtpOf(settings);
  const rule = () => recipientRule(settings.HOOKYARD_NOTIFY_RECIPIENTS, parts.areSeveral());
  const stopLink = createStopLink({ secretBox: parts.secretBox, recipientRule: rule }, () => links.apiBase);
  const common = { ...parts, settings, log, smtp, stopLink, recipientRule: rule, ...links };
  if (smtp && links.apiBase !== '') parts.due.add(dueConfirmations({ ...common, smtp, publicUrl: links.apiBase }));
  else if (smtp) log.warn('confirmation emails cannot be sent: set HOOKYARD_PUBLIC_URL');
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
  const slots = new FairQueue(FLUSH_SLOTS);
  const deps = { ...parts, pool: parts.warehousePool, settings, log, warehouses, slots };
  return startSideWorker(
    parts,
    warehouseTaskQueue(parts.common.taskQueue),
    createWarehouseActivities(deps),
    FLUSH_SLOTS,
    () => warehouses.close(),
  );
}
