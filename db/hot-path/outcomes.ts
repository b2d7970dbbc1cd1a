// What the statements that record attempts have in common: all that an outcome changes besides its delivery, and the partition they name.
// Rules: EVT-13.
import { idTime } from '../../core/ids.ts';
import { countAttempts } from '../ledger/entries.ts';
import { noteOutcomes } from '../notifications/notifications.ts';
import { bounds } from '../parameters.ts';
import { DAY_MS, partitionName } from '../retention/partitions.ts';

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
         attempt as attempts, status_code, error, error_summary, completed_at as at
  from changed where delivery_status in ('delivered', 'failed')
), ${noteOutcomes('ended')}`;

interface Statement {
  name: string;
  text: string;
}

/**
 * A statement on events that names the partition of a day if all of them are of that one, and it is recent. Older days share one
 * statement, so that a connection prepares few.
 * @param textFor the statement, given the table with the events
 */
export function statementOfDay(name: string, textFor: (events: string) => string): (eventIds: string[]) => Statement {
  const ofAnyDay: Statement = { name, text: textFor('events') };
  // That of the day that was asked for last.
  let ofDay: Statement & { day: number } = { ...ofAnyDay, day: Number.NaN };
  return (eventIds) => {
    const { low, high } = bounds(eventIds);
    const [first, last] = [dayOf(low), dayOf(high)];
    if (first !== last || first < dayOf(Date.now()) - 1) return ofAnyDay;
    if (ofDay.day !== first) {
      const partition = partitionName('events', first);
      ofDay = { name: `${name}-${partition}`, text: textFor(partition), day: first };
    }
    return ofDay;
  };
}

/** @returns days since 1970 of an id or of a time in ms */
const dayOf = (of: string | number): number => Math.floor((typeof of === 'string' ? idTime(of) : of) / DAY_MS);
