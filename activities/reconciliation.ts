// The reconciliation, step by step: PostgreSQL knows what must continue, Temporal knows what is running. The workflow
// `reconcile` runs one step after the other, so each is short and the progress is visible.
import { setTimeout as delay } from 'node:timers/promises';
import { eachOf } from '../core/fairness/concurrency.ts';
import { reconciliationRepairs, type Repair, REPAIR_LABELS } from '../core/metrics/services.ts';
import {
  claimListing,
  countRepairs,
  type Notice,
  noticesFor,
  overdueDeliveries,
  type OverdueDelivery,
  sleepingCircuits,
  wakeCircuits,
  wakeForgottenBatches,
  wakeForgottenHolds,
} from '../db/delivery/reconciliation.ts';
import type { InstallationClient } from '../temporal-config/client.ts';
import type { ReconcilePosition, ReconcileStep, Repairs } from './types.ts';
import { type RepairDeps, repairOverdue } from '../temporal-config/open-deliveries.ts';
import { circuitWorkflowId, deliveryStatusAttribute, withoutPrefix } from '../core/temporal/names.ts';
import { listWorkflows, lookUp, type Send, sendAll, signalWorkflow } from '../temporal-config/workflows.ts';

export interface ReconcileDeps extends RepairDeps {
  client: InstallationClient;
}

// All running workflows are listed this often; open deliveries are checked in every run.
const LIST_EVERY_MS = 600_000;
const PAGE_SIZE = 500;
const CONCURRENT_LOOKUPS = 10;
// Most lookups in Temporal per second. It is lower when they find nothing wrong: then deliveries are late because
// Temporal or the workers are busy, and lookups add load.
const LOOKUPS_PER_SECOND = 500;
const VAIN_LOOKUPS_PER_SECOND = 50;
const READING_MS = 10_000;

type Repaired = Partial<Record<Repair, string[]>>;

/**
 * Every repair is idempotent: it reads both sides again, and changes nothing when they agree.
 * @throws when PostgreSQL or Temporal cannot be reached; earlier repairs stay
 */
export async function reconcile(deps: ReconcileDeps, position: ReconcilePosition): Promise<ReconcileStep> {
  const repaired: Repaired = {};
  try {
    const next = await step(deps, position, repaired);
    return { next, repairs: countsOf(repaired) };
  } finally {
    await report(deps, repaired);
  }
}

async function step(
  deps: ReconcileDeps,
  position: ReconcilePosition,
  repaired: Repaired,
): Promise<ReconcilePosition | null> {
  switch (position.part) {
    // Histories hold this name for lost wake-ups.
    case 'wake-ups':
      repaired['circuits woken'] = [...(await wakeLostCircuits(deps)), ...(await wakeForgottenHolds(deps.pool))];
      repaired['warehouses woken'] = await wakeForgottenBatches(deps.pool);
      return { part: 'deliveries', after: '' };
    case 'deliveries': {
      const after = await repairDeliveries(deps, position.after, repaired);
      return after === null ? { part: 'workflows', page: null } : { part: 'deliveries', after };
    }
    case 'workflows': {
      if (position.page === null && !(await claimListing(deps.pool, LIST_EVERY_MS))) return null;
      const { signalled, next } = await endNeedless(deps, position.page);
      repaired['workflows ended'] = signalled;
      return next === null ? null : { part: 'workflows', page: next };
    }
  }
}

/** @returns the id after which to continue; null at the end */
async function repairDeliveries(deps: ReconcileDeps, start: string, repaired: Repaired): Promise<string | null> {
  const { pool } = deps;
  const until = performance.now() + READING_MS;
  for (let after = start; ; ) {
    const { overdue, next } = await overdueDeliveries(pool, after, PAGE_SIZE);
    let vain = 0;
    const repair = async (delivery: OverdueDelivery) => {
      const kind = await repairOverdue(deps, delivery);
      if (kind === null || kind === 'at work') vain += 1;
      else repaired[kind] = [...(repaired[kind] ?? []), delivery.deliveryId];
    };
    await eachOf(overdue, CONCURRENT_LOOKUPS, repair);
    await delay((overdue.length / LOOKUPS_PER_SECOND + vain / VAIN_LOOKUPS_PER_SECOND) * 1000);
    if (next === null || overdue.length > 0 || performance.now() > until) return next;
    after = next;
  }
}

async function report({ pool, log }: ReconcileDeps, repaired: Repaired): Promise<void> {
  for (const [kind, ids] of repairsIn(repaired)) {
    log.warn({ count: ids.length, ids }, `repaired: ${kind}`);
    reconciliationRepairs.add({ kind: REPAIR_LABELS[kind] }, ids.length);
  }
  await countRepairs(pool, countsOf(repaired));
}

const countsOf = (repaired: Repaired): Repairs =>
  Object.fromEntries(repairsIn(repaired).map(([kind, ids]) => [kind, ids.length]));

const repairsIn = (repaired: Repaired): [Repair, string[]][] =>
  (Object.entries(repaired) as [Repair, string[]][]).filter(([, ids]) => ids.length > 0);

const CIRCUITS_PER_PAGE = 100;

/** A half-open circuit waits for the next delivery and has no wake-up time, so its workflow must be running. */
async function wakeLostCircuits({ pool, client }: RepairDeps): Promise<string[]> {
  const woken: string[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const asleep: string[] = await sleepingCircuits(pool, after, CIRCUITS_PER_PAGE);
    const lost: string[] = [];
    for (const routeId of asleep) {
      if ((await lookUp(client, circuitWorkflowId(routeId))).state !== 'running') lost.push(routeId);
    }
    woken.push(...(await wakeCircuits(pool, lost)));
    after = asleep.length < CIRCUITS_PER_PAGE ? undefined : asleep.at(-1);
  }
  return woken;
}

const CONCURRENT_SIGNALS = 10;
const QUERY = 'WorkflowType = "delivery" and ExecutionStatus = "Running"';

/**
 * Goes through one page of the running workflows of deliveries of this installation. Of those whose delivery was
 * deleted, replayed or ended, the signal was lost.
 * @param page token of the page, from the page before; null: the first
 * @returns the deliveries whose workflow was signalled to end, and the token of the next page
 */
async function endNeedless(
  { pool, client }: ReconcileDeps,
  page: string | null,
): Promise<{ signalled: string[]; next: string | null }> {
  const { running, next } = await listRunning(client, page);
  const signalled: string[] = [];
  const sends = (await noticesFor(pool, running)).map(
    (notice): Send =>
      async () => {
        if (await send(client, notice)) signalled.push(notice.deliveryId);
      },
  );
  await sendAll(sends, CONCURRENT_SIGNALS);
  return { signalled, next };
}

/**
 * A workflow whose delivery has ended is signalled to attempt: it then finds out how the delivery ended, and shows
 * that.
 */
function send(client: InstallationClient, notice: Notice): Promise<boolean> {
  const { deliveryId } = notice;
  if (notice.says === 'gone') return signalWorkflow(client, deliveryId, 'cancel');
  if (notice.says === 'replayed') return signalWorkflow(client, deliveryId, 'replay', notice.replayedAs);
  return signalWorkflow(client, deliveryId, 'retryNow');
}

async function listRunning(
  client: InstallationClient,
  page: string | null,
): Promise<{ running: { deliveryId: string; shows: string | null }[]; next: string | null }> {
  const token = page === null ? undefined : Buffer.from(page, 'base64');
  const { executions, nextPageToken } = await listWorkflows(client, QUERY, PAGE_SIZE, token);
  return {
    running: executions.flatMap(({ execution, searchAttributes }) => {
      const deliveryId = withoutPrefix(client.prefix, execution?.workflowId ?? '');
      if (!deliveryId) return [];
      const shows = searchAttributes?.indexedFields?.[deliveryStatusAttribute.name]?.data;
      return [{ deliveryId, shows: shows ? String(JSON.parse(Buffer.from(shows).toString())) : null }];
    }),
    next: nextPageToken.length === 0 ? null : Buffer.from(nextPageToken).toString('base64'),
  };
}
