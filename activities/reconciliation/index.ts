// The reconciliation, step by step: PostgreSQL knows what must continue, Temporal knows what is running. The workflow `reconcile`
// runs one step after the other, so each is short and the progress is visible.
import { setTimeout as delay } from 'node:timers/promises';
import { eachOf } from '../../core/fairness/each-of.ts';
import { REPAIR_LABELS, type Repair, reconciliationRepairs } from '../../core/metrics/services.ts';
import {
  claimListing,
  countRepairs,
  type OverdueDelivery,
  overdueDeliveries,
} from '../../db/reconciliation/reconciliation.ts';
import type { InstallationClient } from '../../temporal-config/client.ts';
import type { ReconcilePosition, ReconcileStep, Repairs } from '../types.ts';
import { type DeliveryRepair, type RepairDeps, repairOverdue } from '../../temporal-config/open-deliveries.ts';
import { endNeedless } from './running-workflows.ts';
import { repairLostWakeups } from './lost-wakeups.ts';

export interface ReconcileDeps extends RepairDeps {
  client: InstallationClient;
}

// All running workflows are listed this often; open deliveries are checked in every run.
const LIST_EVERY_MS = 600_000;
const PAGE_SIZE = 500;
const CONCURRENT_LOOKUPS = 10;
// Most lookups in Temporal per second. It is lower when they find nothing wrong: then deliveries are late because Temporal or the
// workers are busy, and lookups add load.
const LOOKUPS_PER_SECOND = 500;
const VAIN_LOOKUPS_PER_SECOND = 50;
// How long one step reads while nothing is overdue.
const READING_MS = 10_000;

/** Ids of what was repaired, by kind. */
type Repaired = Partial<Record<Repair, string[]>>;

/**
 * Runs one step. Every repair is idempotent: it reads both sides again, and changes nothing when they agree.
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
      Object.assign(repaired, await repairLostWakeups(deps));
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
      else note(repaired, kind, delivery.deliveryId);
    };
    await eachOf(overdue, CONCURRENT_LOOKUPS, repair);
    await delay((overdue.length / LOOKUPS_PER_SECOND + vain / VAIN_LOOKUPS_PER_SECOND) * 1000);
    if (next === null || overdue.length > 0 || performance.now() > until) return next;
    after = next;
  }
}

function note(repaired: Repaired, kind: DeliveryRepair, deliveryId: string): void {
  const ids = repaired[kind] ?? [];
  ids.push(deliveryId);
  repaired[kind] = ids;
}

/** Logs the repairs once, and adds them to the count. */
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
