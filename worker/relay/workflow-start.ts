// Starts the workflow of one delivery, with its destination's policy and the names for its summary. These are cached
// for a second: a workflow uses the policy at its start, plus or minus that second.
import { WorkflowExecutionAlreadyStartedError, type WorkflowStartOptions } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { summaryLine, workflowReference } from '../../core/temporal/operator-markdown.ts';
import type { InstallationClient } from '../../temporal-config/client.ts';
import { fairnessOf } from '../../temporal-config/workflows.ts';
import { type OutboxRow, loadStartPolicies, type StartPolicy } from '../../db/hot-path/claim.ts';
import type { delivery } from '../../workflows/delivery.ts';
import type { FirstAttempt } from '../../workflows/signals-and-queries.ts';
import type { ResumedDelivery } from '../../core/delivery/delivery.ts';
import {
  deliveryStatusAttribute,
  destinationIdAttribute,
  eventIdAttribute,
  organizationIdAttribute,
  routeIdAttribute,
  sourceIdAttribute,
  TASK_QUEUE,
  withPrefix,
} from '../../core/temporal/names.ts';
import { LRUCache } from 'lru-cache';
import { DEFAULT_RETRY_POLICY } from '../../core/delivery/backoff.ts';
import type { Pool } from '../../db/connections/pool.ts';

/**
 * `here`: its first task came back with the answer (eager start). `elsewhere`: any worker may get it. `before`: it was
 * started before, and nothing has changed.
 */
export type Started = 'here' | 'elsewhere' | 'before';

/**
 * Starts a delivery's workflow; it is named by the delivery's id, so a second start changes nothing.
 * @param options.first result of the first attempt, if it was already made
 * @param options.resumed its progress when its workflow was lost
 * @throws when Temporal cannot be reached or refuses
 */
export async function startDelivery(
  client: InstallationClient,
  row: OutboxRow,
  policy: StartPolicy,
  options: { quick: boolean; replayWindowMs: number; first?: FirstAttempt; resumed?: ResumedDelivery },
): Promise<Started> {
  const start: WorkflowStartOptions<typeof delivery> = {
    workflowId: row.deliveryId,
    taskQueue: TASK_QUEUE,
    // Never a second workflow, except for a delivery whose end this database is known to have missed
    // (db/delivery/reconciliation.ts).
    workflowIdReusePolicy: row.resume === 'ended' ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
    requestEagerStart: client.startsEagerly,
    ...fairnessOf(row.organizationId),
    args: [
      {
        organizationId: row.organizationId,
        eventId: row.eventId,
        deliveryId: row.deliveryId,
        retryPolicy: policy.retryPolicy,
        quick: options.quick,
        replayWindowMs: options.replayWindowMs,
        ...(options.first && { first: options.first }),
        ...(options.resumed && { resumed: options.resumed }),
      },
    ],
    staticSummary: summaryOf(policy),
    staticDetails:
      row.failoverOf === null
        ? undefined
        : `Failover: takes over from ${workflowReference(withPrefix(client.prefix, row.failoverOf), row.failoverOf)}, whose destination failed or was not tried because the circuit breaker was open.`,
    typedSearchAttributes: new TypedSearchAttributes([
      { key: organizationIdAttribute, value: row.organizationId },
      { key: sourceIdAttribute, value: row.sourceId },
      ...(row.routeId === null ? [] : [{ key: routeIdAttribute, value: row.routeId }]),
      { key: destinationIdAttribute, value: row.destinationId },
      { key: eventIdAttribute, value: row.eventId },
      // Set at the start, so that parked deliveries are counted at once: under load the workflow itself runs much
      // later.
      ...(isParked(options) ? [{ key: deliveryStatusAttribute, value: 'failed' }] : []),
    ]),
  };
  try {
    const { eagerlyStarted } = await client.workflow.start<typeof delivery>('delivery', start);
    return eagerlyStarted ? 'here' : 'elsewhere';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'before';
    throw error;
  }
}

const isParked = ({ first, replayWindowMs }: { first?: FirstAttempt; replayWindowMs: number }) =>
  first?.status === 'failed' && replayWindowMs > 0;

/** A label of the delivery for operators: `Shop orders -> Acme CRM (route Orders to CRM)`. */
function summaryOf({ sourceName, destinationName, routeName }: StartPolicy): string {
  return summaryLine(`${sourceName} -> ${destinationName}${routeName === null ? '' : ` (route ${routeName})`}`);
}

const KEEP_MS = 1000;
const MOST_KEPT = 10_000;

// A destination or source that was deleted meanwhile: the first attempt notices that and ends the delivery.
const GONE: StartPolicy = {
  retryPolicy: DEFAULT_RETRY_POLICY,
  rateLimitPerMinute: null,
  maxConcurrency: null,
  lane: null,
  destinationName: 'deleted destination',
  sourceName: 'deleted source',
  routeName: null,
};

/** Returns a function that finds the policies of many rows with at most one query. */
export function createStartPolicies(pool: Pool): (rows: OutboxRow[]) => Promise<(row: OutboxRow) => StartPolicy> {
  const cached = new LRUCache<string, StartPolicy>({ max: MOST_KEPT, ttl: KEEP_MS });

  return async (rows) => {
    // What is cached may expire before the caller asks.
    const policies = new Map<string, StartPolicy>();
    const missing = new Map<string, OutboxRow>();
    for (const row of rows) {
      const key = keyOf(row);
      const known = cached.get(key);
      if (known) policies.set(key, known);
      // A delivery that waits may have a limit that is younger than the policy: it must not be signalled because of one
      // without.
      if (!known || (row.resume === 'waiting' && known.rateLimitPerMinute === null)) missing.set(key, row);
    }
    if (missing.size > 0) {
      for (const policy of await loadStartPolicies(pool, [...missing.values()])) {
        cached.set(keyOf(policy), policy);
        policies.set(keyOf(policy), policy);
      }
    }
    return (row) => policies.get(keyOf(row)) ?? GONE;
  };
}

const keyOf = (row: { destinationId: string; sourceId: string; routeId: string | null }): string =>
  `${row.destinationId} ${row.sourceId} ${row.routeId}`;
