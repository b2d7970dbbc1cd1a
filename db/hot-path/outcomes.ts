// What the statements that record attempts have in common: all that an outcome changes besides its delivery, and the partition they name.
// Rules: EVT-13.
import { countAttempts } from '../ledger/entries.ts';
import { noteOutcomes } from '../messages/route-mails.ts';

/**
 * CTEs that add outcomes to the totals of their events, the ledger and the notifications, for a statement whose main
 * query reads `noted`. Its CTE `changed` holds the deliveries that attempts have changed: id, organization_id, event_id, source_id,
 * destination_id, route_id, counted, primary_id, delivery_status, attempt, status_code, error, error_summary, latency, latency_class,
 * completed_at. What makes this safe under concurrency is said in record-results.ts.
 * @param events the table with all these events
 */
export const countOutcomes = (events: string): string => `finished as (
  select event_id, (count(*) filter (where delivery_status = 'delivered'))::int as succeeded,
         (count(*) filter (where delivery_status = 'failed'))::int as failed
  from changed where counted and delivery_status in ('delivered', 'failed')
  group by event_id order by event_id
), totals as (
  update ${events} e
  set deliveries_succeeded = e.deliveries_succeeded + f.succeeded, deliveries_failed = e.deliveries_failed + f.failed,
      status = event_status(e.deliveries_count, e.deliveries_succeeded + f.succeeded, e.deliveries_failed + f.failed)
  from finished f
  where e.id = f.event_id
), ${countAttempts('changed')}, ended as (
  select organization_id, route_id, source_id, destination_id, primary_id, event_id, id as delivery_id, delivery_status as status,
         attempt as attempts, status_code, error_summary, completed_at as at
  from changed where delivery_status in ('delivered', 'failed')
), ${noteOutcomes('ended')}`;
