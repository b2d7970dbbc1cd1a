// The input of a delivery workflow besides ids: the destination's policy and the names for its summary. Cached for a second: a
// workflow uses the policy at its start, plus or minus that second.
import { DEFAULT_RETRY_POLICY } from '../core/backoff.ts';
import type { OutboxRow } from '../db/hot-path/claim.ts';
import { loadStartPolicies, type StartPolicy } from '../db/hot-path/start-policies.ts';
import type { Pool } from '../db/connections/pool.ts';

export type { StartPolicy };

const KEEP_MS = 1000;

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
  const cached = new Map<string, { policy: StartPolicy; until: number }>();
  const keyOf = (row: { destinationId: string; sourceId: string; routeId: string | null }) =>
    `${row.destinationId} ${row.sourceId} ${row.routeId}`;

  return async (rows) => {
    const now = performance.now();
    for (const [key, entry] of cached) if (entry.until <= now) cached.delete(key);
    // A delivery that waits may have a limit that is younger than the policy: it must not be signalled because of one without.
    const isKnown = (row: OutboxRow) => {
      const known = cached.get(keyOf(row))?.policy;
      return known !== undefined && (row.resume !== 'waiting' || known.rateLimitPerMinute !== null);
    };
    const missing = new Map(rows.filter((row) => !isKnown(row)).map((row) => [keyOf(row), row]));
    if (missing.size > 0) {
      const found = await loadStartPolicies(pool, [...missing.values()]);
      for (const row of found) cached.set(keyOf(row), { policy: row, until: now + KEEP_MS });
    }
    return (row) => cached.get(keyOf(row))?.policy ?? GONE;
  };
}
