// The input of a delivery workflow besides ids: the destination's policy and the names for its summary. Cached for a second: a
// workflow uses the policy at its start, plus or minus that second.
import { LRUCache } from 'lru-cache';
import { DEFAULT_RETRY_POLICY } from '../core/delivery/backoff.ts';
import type { OutboxRow } from '../db/hot-path/claim.ts';
import { loadStartPolicies, type StartPolicy } from '../db/hot-path/start-policies.ts';
import type { Pool } from '../db/connections/pool.ts';

export type { StartPolicy };

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
      // A delivery that waits may have a limit that is younger than the policy: it must not be signalled because of one without.
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
