// The workflows of what is due: each claim (db/) is followed by the start of a workflow, or by a signal to the one that
// runs. A claim whose start fails expires, and is made again.
import { type Client, WorkflowExecutionAlreadyStartedError, type WorkflowStartOptions } from '@temporalio/client';
import { type SearchAttributePair, TypedSearchAttributes } from '@temporalio/common';
import { isId } from '../../core/text/ids.ts';
import type { Log } from '../../core/process/log.ts';
import { summaryLine } from '../../core/temporal/operator-markdown.ts';
import {
  destinationIdAttribute,
  organizationIdAttribute,
  routeIdAttribute,
  sourceIdAttribute,
  circuitWorkflowId,
  messageWorkflowId,
  TASK_QUEUE,
  warehouseWorkflowId,
} from '../../core/temporal/names.ts';
import { settleAll } from '../../core/fairness/concurrency.ts';
import { plural } from '../../core/text/words.ts';
import { claimDueCircuits, type DueCircuit } from '../../db/circuits/wake-ups.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { createAnnouncements } from '../../db/messages/announcements.ts';
import { claimMessages, type DueMessage, noteStarted } from '../../db/messages/outbox.ts';
import { createRouteMails } from '../../db/messages/route-mails.ts';
import { claimEventReplays, type DueReplay, endEventReplay } from '../../db/replay/event-replays.ts';
import { claimFlushes, countGains, type DueFlush } from '../../db/warehouse/flushes.ts';
import { fairnessOf, lookUp } from '../../temporal-config/workflows.ts';
import type { circuit } from '../../workflows/circuit.ts';
import { circuitChanged, warehouseChanged } from '../../workflows/signals-and-queries.ts';
import type { message } from '../../workflows/message.ts';
import type { replay } from '../../workflows/replay.ts';
import type { warehouseFlush } from '../../workflows/warehouse-flush.ts';
import type { DuePart } from './due.ts';

// Claimed per round; more of them follow at once.
const MAX_CIRCUITS = 100;
const MAX_FLUSHES = 50;
const MAX_OTHERS = 20;
const CIRCUITS_EVERY_MS = 200;
// A workflow of a warehouse gets at most one signal a second.
const EVERY_MS = 1000;
const everySecond = () => EVERY_MS;

interface DueWorkflowDeps {
  client: Client;
  pool: Pool;
  log: Log;
}

/** What every workflow is started with. @param about what it is about, besides its organization */
const startOptions = (organizationId: string, summary: string, about: SearchAttributePair[] = []) => ({
  taskQueue: TASK_QUEUE,
  ...fairnessOf(organizationId),
  staticSummary: summary,
  typedSearchAttributes: new TypedSearchAttributes([{ key: organizationIdAttribute, value: organizationId }, ...about]),
});

/** @returns false when it was started before */
async function start(client: Client, type: string, options: WorkflowStartOptions): Promise<boolean> {
  try {
    await client.workflow.start(type, options);
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

export function dueCircuits({ client, pool }: DueWorkflowDeps): DuePart {
  return {
    what: 'circuit breakers',
    kinds: ['circuits'],
    everyMs: () => CIRCUITS_EVERY_MS,
    async round() {
      const due = await claimDueCircuits(pool, MAX_CIRCUITS);
      await settleAll(due.map((each) => wakeCircuit(client, each)));
      return due.length === MAX_CIRCUITS ? CIRCUITS_EVERY_MS : null;
    },
  };
}

async function wakeCircuit(client: Client, { routeId, organizationId, name }: DueCircuit): Promise<void> {
  const isRoute = isId('rte', routeId);
  const summary = isRoute
    ? `Circuit breaker for ${name ?? 'a deleted route'}`
    : `Pause of ${name ?? 'a deleted destination'}`;
  const key = isRoute ? routeIdAttribute : destinationIdAttribute;
  await client.workflow.signalWithStart<typeof circuit>('circuit', {
    workflowId: circuitWorkflowId(routeId),
    args: [{ organizationId, routeId }],
    signal: circuitChanged,
    ...startOptions(organizationId, summaryLine(summary), [{ key, value: routeId }]),
  });
}

/** @param retryMs how long a file waits for its next try */
export function dueFlushes({ client, pool }: DueWorkflowDeps, retryMs: number): DuePart {
  return {
    what: 'warehouses',
    kinds: ['flushes', 'gains'],
    everyMs: everySecond,
    async round() {
      const claimed = await claimFlushes(pool, MAX_FLUSHES);
      const due = [...claimed, ...(await countGains(pool))];
      await settleAll(due.map((each) => wakeFlush(client, retryMs, each)));
      return claimed.length >= MAX_FLUSHES ? 0 : null;
    },
  };
}

async function wakeFlush(client: Client, retryMs: number, due: DueFlush): Promise<void> {
  const { organizationId, destinationId, destinationName, hasNews } = due;
  const summary = summaryLine(`Files for ${destinationName ?? 'a deleted destination'}`);
  const options = {
    workflowId: warehouseWorkflowId(destinationId),
    args: [{ organizationId, destinationId, retryMs }] as Parameters<typeof warehouseFlush>,
    ...startOptions(organizationId, summary, [{ key: destinationIdAttribute, value: destinationId }]),
  };
  if (!hasNews) return void (await start(client, 'warehouseFlush', options));
  const signal = { signal: warehouseChanged };
  await client.workflow.signalWithStart<typeof warehouseFlush>('warehouseFlush', { ...options, ...signal });
}

/** Makes the messages that are due, and starts the workflow of each. @param everyMs between its rounds */
export function dueMessages({ client, pool }: DueWorkflowDeps, everyMs: () => number): DuePart {
  const announce = announcements(pool);
  return {
    what: 'messages',
    kinds: ['alerts', 'messages'],
    everyMs,
    async round() {
      // One after the other, because one transaction at a time makes messages. What is there is started also when
      // nothing new can be made, and neither kind waits for the other to work again.
      const [mails] = await Promise.allSettled([createRouteMails(pool)]);
      const [alerts] = await Promise.allSettled([announce()]);
      const claimed = await startMessages(client, pool);
      if (mails.status === 'rejected') throw mails.reason;
      if (alerts.status === 'rejected') throw alerts.reason;
      if (mails.value || claimed === MAX_OTHERS) return 0;
      return alerts.value ? null : everyMs();
    },
  };
}

/** Rounds of one process: each continues after the last one. @returns whether all channels were compared */
export function announcements(pool: Pool): () => Promise<boolean> {
  let last = '';
  return async () => {
    const round = await createAnnouncements(pool, last);
    // Another process is at it: this one continues where it was.
    if (round !== null) last = round.last;
    return last === '';
  };
}

async function startMessages(client: Client, pool: Pool): Promise<number> {
  const { due, claimed } = await claimMessages(pool, MAX_OTHERS);
  const started: DueMessage[] = [];
  try {
    await settleAll(due.map(async (each) => started.push(await startMessage(client, each))));
  } finally {
    await noteStarted(pool, started);
  }
  return claimed;
}

/** A message whose workflow was lost or terminated is started again; one that was sent is not claimed any more. */
async function startMessage(client: Client, due: DueMessage): Promise<DueMessage> {
  const { organizationId, messageId, kind, type, routeId } = due;
  const to = routeId === null ? 'channel' : 'route';
  const about = routeId === null ? [] : [{ key: routeIdAttribute, value: routeId }];
  await start(client, 'message', {
    workflowId: messageWorkflowId(messageId),
    args: [{ organizationId, messageId, to, via: type === 'mail' ? 'mail' : 'http' }] satisfies Parameters<
      typeof message
    >,
    ...startOptions(organizationId, `${to === 'route' ? 'Notification' : 'Alert'}: ${kind}`, about),
  });
  return due;
}

export function dueReplays(deps: DueWorkflowDeps): DuePart {
  return {
    what: 'replays',
    kinds: ['replays'],
    everyMs: everySecond,
    async round() {
      const due = await claimEventReplays(deps.pool, MAX_OTHERS);
      await settleAll(due.map((claimed) => lookAfterReplay(deps, claimed)));
      return due.length === MAX_OTHERS ? 0 : null;
    },
  };
}

/**
 * Starts a replay's workflow unless it runs. If the workflow was terminated in Temporal, the replay would stay open for
 * ever, so the replay is ended too. A workflow that completed has recorded its end first: if the database does not have
 * it, the database was restored from a backup, and the replay continues from there.
 */
async function lookAfterReplay({ client, pool, log }: DueWorkflowDeps, due: DueReplay): Promise<void> {
  const { organizationId, replayId, ratePerSecond, eventsTotal, sourceId } = due;
  const about = sourceId === null ? [] : [{ key: sourceIdAttribute, value: sourceId }];
  const events = eventsTotal === null ? 'many events' : plural(eventsTotal, 'event');
  const summary = `Replay of ${events}, ${ratePerSecond} per second`;
  const options = {
    workflowId: replayId,
    args: [{ organizationId, replayId, ratePerSecond }] satisfies Parameters<typeof replay>,
    ...startOptions(organizationId, summary, about),
  };
  if (await start(client, 'replay', { ...options, workflowIdReusePolicy: 'REJECT_DUPLICATE' })) return;
  const { state } = await lookUp(client, replayId);
  if (state === 'ended') await start(client, 'replay', { ...options, workflowIdReusePolicy: 'ALLOW_DUPLICATE' });
  if (state !== 'stopped') return;
  const lost = await endEventReplay(pool, due, 'failed', 'The workflow was terminated or cancelled in Temporal');
  if (lost)
    log.warn({ replayId, organizationId }, 'replay failed: its workflow was terminated or cancelled in Temporal');
}
