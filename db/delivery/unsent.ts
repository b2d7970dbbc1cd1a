// Deliveries that fail without a request to their destination (delivery_stats.unsent): in the statistics of their route, and not in the
// health of their destination. Part of the statements that end deliveries this way.
import { addedUp, bucketsOf } from '../sql-rules.ts';

/**
 * A CTE `unsent` that counts rows of another CTE, in key order, so that concurrent statements queue instead of deadlocking.
 * It writes nothing when there is no such row.
 * @param ended its name; it has destination_id and route_id of deliveries that end now
 * @param condition which of its rows count
 */
export function countUnsent(ended: string, condition = 'true'): string {
  return `unsent as (
  insert into delivery_stats as s (destination_id, route_id, bucket, unsent)
  select e.destination_id, coalesce(e.route_id, ''), b.bucket, count(*)
  from ${ended} e cross join ${bucketsOf('now()')}
  where ${condition}
  group by 1, 2, 3 order by 1, 2, 3
  ${addedUp('destination_id, route_id, bucket', ['unsent'])}
)`;
}
