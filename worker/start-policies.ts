// What a delivery workflow is started with besides ids: the destination's policy and the names for its summary. Cached
// for a second: a workflow runs by the policy of its start, give or take that second.
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../core/backoff.ts';
import type { Lane } from '../core/lane.ts';
import type { OutboxRow } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/pool.ts';

export interface StartPolicy {
  retryPolicy: RetryPolicy;
  /** Null: unlimited. */
  rateLimitPerMinute: number | null;
  /** Of the route; null: as the service is set. */
  lane: Lane | null;
  destinationName: string;
  sourceName: string;
  /** Null: the event goes there by no route, or by one that was deleted. */
  routeName: string | null;
}

const KEEP_MS = 1000;
const LOAD = `
select t.id as "destinationId", s.id as "sourceId", t.retry_policy as "retryPolicy",
       t.rate_limit_per_minute as "rateLimitPerMinute",
       t.name as "destinationName", s.name as "sourceName", wanted.route_id as "routeId",
       r.name as "routeName", r.lane
from unnest($1::text[], $2::text[], $3::text[]) as wanted(destination_id, source_id, route_id)
join destinations t on t.id = wanted.destination_id
join sources s on s.id = wanted.source_id
left join routes r on r.id = wanted.route_id`;

// A destination or source that was deleted meanwhile: the first attempt finds that out and ends the delivery.
const GONE: StartPolicy = {
  retryPolicy: DEFAULT_RETRY_POLICY,
  rateLimitPerMinute: null,
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
    // One that waits for its turn was told of a limit: that there is none must not be news of a second ago.
    const isKnown = (row: OutboxRow) => {
      const known = cached.get(keyOf(row))?.policy;
      return known !== undefined && (row.resume !== 'waiting' || known.rateLimitPerMinute !== null);
    };
    const missing = new Map(rows.filter((row) => !isKnown(row)).map((row) => [keyOf(row), row]));
    if (missing.size > 0) {
      const wanted = [...missing.values()];
      const found = await pool.query<StartPolicy & Pick<OutboxRow, 'destinationId' | 'sourceId' | 'routeId'>>({
        name: 'start-policies',
        text: LOAD,
        values: [
          wanted.map((row) => row.destinationId),
          wanted.map((row) => row.sourceId),
          wanted.map((row) => row.routeId),
        ],
      });
      for (const row of found.rows) cached.set(keyOf(row), { policy: row, until: now + KEEP_MS });
    }
    return (row) => cached.get(keyOf(row))?.policy ?? GONE;
  };
}
