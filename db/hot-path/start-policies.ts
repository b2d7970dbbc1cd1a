// The input of a delivery workflow besides ids: the destination's policy and the names for its summary.
import type { RetryPolicy } from '../../core/delivery/backoff.ts';
import type { LaneSetting } from '../../core/delivery/delivery.ts';
import type { Queryable } from '../connections/pool.ts';
import type { OutboxRow } from './claim.ts';

export interface StartPolicy {
  retryPolicy: RetryPolicy;
  /** Null: unlimited. */
  rateLimitPerMinute: number | null;
  /** Most attempts at a time, all workers together; null: as many as the destination copes with. */
  maxConcurrency: number | null;
  /** Of the route; null: the setting of the service. */
  lane: LaneSetting | null;
  destinationName: string;
  sourceName: string;
  /** Null: no route, or it was deleted. */
  routeName: string | null;
}

const LOAD = `
select t.id as "destinationId", s.id as "sourceId", t.retry_policy as "retryPolicy",
       t.rate_limit_per_minute as "rateLimitPerMinute", t.max_concurrency as "maxConcurrency",
       t.name as "destinationName", s.name as "sourceName", wanted.route_id as "routeId",
       r.name as "routeName", r.lane
from unnest($1::text[], $2::text[], $3::text[]) as wanted(destination_id, source_id, route_id)
join destinations t on t.id = wanted.destination_id
join sources s on s.id = wanted.source_id
left join routes r on r.id = wanted.route_id`;

type Way = Pick<OutboxRow, 'destinationId' | 'sourceId' | 'routeId'>;

/** The policies of rows of the outbox; one is missing when its destination or source was deleted. */
export async function loadStartPolicies(db: Queryable, wanted: Way[]): Promise<(StartPolicy & Way)[]> {
  const { rows } = await db.query<StartPolicy & Way>({
    name: 'start-policies',
    text: LOAD,
    values: [
      wanted.map(({ destinationId }) => destinationId),
      wanted.map(({ sourceId }) => sourceId),
      wanted.map(({ routeId }) => routeId),
    ],
  });
  return rows;
}
