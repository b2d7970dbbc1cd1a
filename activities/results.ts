// The two groups every attempt shares with others that run at the same time: loading deliveries and recording results.
import { type Batcher, createBatcher } from '../core/batcher.ts';
import type { Log } from '../core/log.ts';
import { countAttempts } from '../db/circuits.ts';
import { type AttemptContext, loadAttempts } from '../db/hot-path/load-attempts.ts';
import { type AttemptResult, type ChangedDelivery, recordResults } from '../db/hot-path/record-results.ts';
import { isTransientDatabaseError } from '../db/database-errors.ts';
import type { Pool } from '../db/pool.ts';
import type { AttemptRequest } from './types.ts';

const MAX_GROUP = 128;
const MAX_QUEUED = 10_000;
// Results of attempts that end close together share a commit.
const RECORD_SPACING_MS = 10;
// How long a result is kept in memory while PostgreSQL is away, before the attempt is given back to its workflow and
// made again. Less than the margin the workflow leaves for it.
const KEEP_RESULT_MS = 30_000;
const RETRY_PAUSE_MS = 250;

/** Loads what attempts need, one statement for a group. */
export function createContextLoader(pool: Pool): Batcher<AttemptRequest, AttemptContext | undefined> {
  return createBatcher({
    async run(requests) {
      const contexts = await loadAttempts(pool, requests);
      return requests.map((request) => contexts.get(request.deliveryId));
    },
    maxItems: MAX_GROUP,
    concurrency: 4,
    maxQueued: MAX_QUEUED,
  });
}

/** What recording a result led to. */
export interface RecordedResult {
  /** False: the delivery had been closed, deleted or recorded before. */
  changed: boolean;
  /** Whether the circuit of its route is known to keep its next attempt from being made. */
  blocked: boolean;
}

/** Records results, one statement and one commit for a group. */
export function createResultRecorder(pool: Pool, log: Log): Batcher<AttemptResult, RecordedResult> {
  return createBatcher({
    async run(results) {
      const distinct = new Map(results.map((result) => [result.deliveryId, result]));
      const changed = await record(pool, [...distinct.values()], log);
      const blocked = await countInCircuits(pool, distinct, changed, log);
      return results.map(({ deliveryId }) => {
        const routeId = changed.get(deliveryId)?.routeId;
        return { changed: changed.has(deliveryId), blocked: routeId != null && blocked.has(routeId) };
      });
    },
    maxItems: MAX_GROUP,
    spacingMs: RECORD_SPACING_MS,
    concurrency: 2,
    maxQueued: MAX_QUEUED,
  });
}

/**
 * Counts what a group changed in the circuits of its routes; most groups have nothing to count.
 * Failure policy: should the database go away between a result and its count, the count is lost and the result is not. A
 * circuit then opens a failure later, and a probe that was not heard of is followed by another.
 * @returns routes whose circuit is not closed now
 */
async function countInCircuits(
  pool: Pool,
  results: Map<string, AttemptResult>,
  changed: Map<string, ChangedDelivery>,
  log: Log,
): Promise<Set<string>> {
  const attempts = [...changed].flatMap(([deliveryId, { routeId, destinationId, countsInCircuit }]) => {
    const result = results.get(deliveryId);
    if (!result || !countsInCircuit || routeId === null) return [];
    const { completedAt, deliveryStatus } = result;
    return [{ routeId, deliveryId, destinationId, completedAt, success: deliveryStatus === 'delivered' }];
  });
  if (attempts.length === 0) return new Set();
  try {
    return await countAttempts(pool, attempts);
  } catch (error) {
    log.warn({ attempts: attempts.length, error: String(error) }, 'attempts were not counted in their circuits');
    return new Set();
  }
}

/**
 * Failure policy: while PostgreSQL is away the result is kept and tried again, because the destination has the event
 * already; a result that PostgreSQL refuses is recorded alone, then without what was captured of it, so that one
 * unusual response can neither hold up others nor repeat its own attempt for ever.
 */
async function record(pool: Pool, results: AttemptResult[], log: Log): Promise<Map<string, ChangedDelivery>> {
  const until = performance.now() + KEEP_RESULT_MS;
  for (;;) {
    try {
      return await recordResults(pool, results);
    } catch (error) {
      if (!isTransientDatabaseError(error)) return recordApart(pool, results, log, error);
      if (performance.now() > until) throw error;
      log.warn({ results: results.length, error: String(error) }, 'results wait for the database');
      await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
    }
  }
}

async function recordApart(
  pool: Pool,
  results: AttemptResult[],
  log: Log,
  error: unknown,
): Promise<Map<string, ChangedDelivery>> {
  const [only] = results;
  if (only && results.length === 1) {
    log.error({ deliveryId: only.deliveryId, error: String(error) }, 'recording an attempt without its capture');
    return recordResults(pool, [{ ...only, requestHeaders: {}, responseHeaders: null, responseBody: null }]);
  }
  const groups = await Promise.all(results.map((result) => record(pool, [result], log)));
  return new Map(groups.flatMap((group) => [...group]));
}
