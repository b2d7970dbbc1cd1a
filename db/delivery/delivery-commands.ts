// Commands of users and workflows on deliveries, and which deliveries are open. PostgreSQL is the record: these
// statements decide, and the workflows are signalled afterwards (a workflow that misses the signal notices at its next
// attempt).
import { deliveriesFinished } from '../../core/metrics/deliveries.ts';
import { errorText, type DescribedError, openError, ownWords } from '../../core/text/error-summary.ts';
import { afterCommit, type Queryable } from '../connections/pool.ts';
import { countWithoutAttempt } from '../ledger/entries.ts';
import { noteOutcomes } from '../messages/route-mails.ts';
import { Stride, throughPages } from '../sql/ranges.ts';
import {
  KEYS_LOCKED,
  lockKeys,
  noLongerWaiting,
  OPEN,
  outboxRow,
  PRIMARY_DESTINATION,
  UNDER_WAY,
  WAKE_CIRCUITS,
} from '../sql/rules.ts';
import { among, type Fragment, fragment, raw, sql } from '../connections/statements.ts';

export const DESTINATION_DELETED = openError(ownWords`The destination was deleted`);

export interface EndSelection {
  organizationId: string;
  deliveryIds?: string[];
  destinationIds?: string[];
  eventId?: string;
  reason: DescribedError;
  /** Leaves out those that are in a warehouse's batch: its file is being written. */
  notInBatch?: boolean;
}

/** Cancels open deliveries; a cancelled one counts as not succeeded. @returns the ids that were open */
export function cancelDeliveries(db: Queryable, selection: EndSelection): Promise<string[]> {
  return endDeliveries(db, 'cancelled', selection);
}

/**
 * Ends open deliveries without an attempt.
 * @returns the ids that were open and have the new status now
 */
export async function endDeliveries(
  db: Queryable,
  status: 'cancelled' | 'failed' | 'skipped',
  selection: EndSelection,
): Promise<string[]> {
  const { organizationId, deliveryIds, destinationIds, eventId, reason, notInBatch = false } = selection;
  const isChosen = deliveryIds === undefined ? raw('true') : among('d.id', deliveryIds);
  const keys = fragment`
    select destination_id as destination, order_hash as hash from deliveries
    where ${among('id', deliveryIds ?? [])} and organization_id = ${organizationId} and order_number is not null`;
  const counts = { not_sent: String(status === 'failed'), cancelled: String(status === 'cancelled') };
  // A delivery is ended once: its status is checked again under the row lock, so if a cancel and a result race, exactly
  // one counts in the event's totals. A skipped delivery stops counting at all.
  const ids = await sql(db).column`
    with ${lockKeys(keys)}, ended as (
      update deliveries d
      set status = ${status}, error = ${errorText(reason.detail)}, error_summary = ${reason.summary},
          next_attempt_at = null, finished_at = now(), counted = d.counted and ${status !== 'skipped'}
      where d.organization_id = ${organizationId} and d.status in ${raw(OPEN)} and ${isChosen}
        and (${destinationIds}::text[] is null or d.destination_id = any(${destinationIds}::text[]))
        and (${eventId}::text is null or d.event_id = ${eventId})
        and (not ${notInBatch} or d.batch_id is null) and ${raw(KEYS_LOCKED)}
      returning d.id, d.organization_id, d.event_id, d.source_id, d.route_id, d.destination_id, d.priority, d.counted,
        ${raw(PRIMARY_DESTINATION)} as primary_id, d.status, d.attempt_count, d.status_code, d.error_summary,
        d.finished_at
    ), ${raw(noLongerWaiting('ended'))}, change as (
      select event_id, (count(*) filter (where counted))::int as failed,
             (count(*) filter (where not counted))::int as dropped
      from ended group by event_id
    ), held as (
      -- in the order in which results take them (hot-path/record-results.ts)
      select e.id from events e join change c on e.id = c.event_id order by e.id for update of e
    ), totals as (
      update events e
      set deliveries_count = e.deliveries_count - c.dropped, deliveries_failed = e.deliveries_failed + c.failed,
          status = event_status(e.deliveries_count - c.dropped, e.deliveries_succeeded, e.deliveries_failed + c.failed)
      from change c where e.id = c.event_id and (select count(*) from held) > 0
    ), failed as (
      select organization_id, route_id, source_id, destination_id, primary_id, event_id, id as delivery_id, status,
             attempt_count as attempts, status_code, error_summary, finished_at as at
      from ended where status = 'failed'
    ), ${raw(countWithoutAttempt('ended', counts))}, ${raw(noteOutcomes('failed'))}
    select id, (select written from noted) as notifications,
           case when exists (select from unelected) then ${raw(WAKE_CIRCUITS)} end
    from ended`;
  afterCommit(db, () => deliveriesFinished.add({ status }, ids.length));
  return ids;
}

/**
 * Stores the time of the next attempt of an open delivery, for display only. The delivery no longer waits for its turn.
 * @param isLeftToWorkflow whether it leaves the outbox too, because its workflow makes the next attempt: else the relay
 * would start it again and again
 */
export async function postponeDelivery(
  db: Queryable,
  deliveryId: string,
  forMs: number,
  isLeftToWorkflow: boolean = false,
): Promise<void> {
  await sql(db).run`
    with postponed as (
      update deliveries set next_attempt_at = now() + make_interval(secs => ${forMs}::float8 / 1000)
      where id = ${deliveryId} and status in ${raw(OPEN)}
      returning id, organization_id, destination_id, priority
    ), left_alone as (
      delete from outbox o using postponed p
      where ${raw(outboxRow('p'))} and (o.resume = 'waiting' or ${isLeftToWorkflow})
      returning p.*
    )
    insert into retrying_deliveries (delivery_id, organization_id, destination_id)
    select id, organization_id, destination_id from left_alone on conflict do nothing`;
}

// Open deliveries are found among millions that have ended without an index for it, which would make recording every
// attempt more expensive. Each that is not in a file of a warehouse is in one of four small tables: `outbox`,
// `held_deliveries`, `ordered_deliveries`, or, if only its workflow continues it, `retrying_deliveries`.

// Pages of a table that one statement goes through: some ten thousand rows.
const LOOKING = new Stride(500);

export interface OpenDelivery {
  id: string;
  organizationId: string;
}

/** Those in a file that is being written, and those of a deleted source, are excluded. */
interface OpenFilter {
  destinationIds?: string[];
  /** Only of events with smaller ids. */
  eventsBefore?: string;
}

/**
 * Finds open deliveries, in no order, and hands them over in groups, none of them empty. One that moves between the
 * tables meanwhile may be missed, or come twice.
 * @param most of one group
 * @param end ends them; returns whether to go on
 * @returns whether all were gone through
 */
export async function endOpen(
  db: Queryable,
  { destinationIds, eventsBefore }: OpenFilter,
  most: number,
  end: (open: OpenDelivery[]) => Promise<boolean>,
): Promise<boolean> {
  for (const table of ['ordered_deliveries', 'outbox', 'held_deliveries', 'retrying_deliveries']) {
    let mayGoOn = true;
    const look = (pages: Fragment) => sql(db).rows<OpenDelivery>`
      select d.id, d.organization_id from (
        select delivery_id from ${raw(table)} w
        where ${pages} and (${destinationIds}::text[] is null or destination_id = any(${destinationIds}::text[]))
      ) w
      cross join lateral (
        select * from deliveries d where d.id = w.delivery_id and d.status in ${raw(OPEN)} and d.batch_id is null
          and (${eventsBefore}::text is null or d.event_id < ${eventsBefore}) offset 0
      ) d
      where exists (select from sources s where s.id = d.source_id)
      limit ${most}`;
    const take = async (pages: Fragment) => {
      // What was not ended is found again.
      for (let known = new Set<string>(); mayGoOn; ) {
        const open = await look(pages);
        const rows = open.filter(({ id }) => !known.has(id));
        if (rows.length === 0) return;
        mayGoOn = await end(rows);
        if (open.length < most) return;
        known = new Set(open.map(({ id }) => id));
      }
    };
    await throughPages(db, table, LOOKING, take, () => mayGoOn);
    if (!mayGoOn) return false;
  }
  return true;
}

/** What may be open of an organization, those in files of a warehouse included; in no order. */
export async function openOf(db: Queryable, organizationId: string, most: number): Promise<string[]> {
  return sql(db).column`
    select delivery_id from (
      select delivery_id from outbox where organization_id = ${organizationId}
      union select delivery_id from held_deliveries where organization_id = ${organizationId}
      union select delivery_id from retrying_deliveries where organization_id = ${organizationId}
      union select delivery_id from ordered_deliveries where organization_id = ${organizationId}
      union select d.id from warehouse_batches b join deliveries d on d.destination_id = b.destination_id
              and d.id between b.first_delivery_id and b.last_delivery_id and d.batch_id = b.id
              and d.status = 'pending'
            where b.organization_id = ${organizationId} and b.status in ${raw(UNDER_WAY)}
    ) open limit ${most}`;
}

/** Counts the open deliveries of an organization that are in no file of a warehouse. */
export async function countOpen(db: Queryable, organizationId: string): Promise<number> {
  // A row of the outbox with `resume` belongs to a workflow: if only that continues the delivery, it is counted there
  // (backlog.ts).
  return sql(db).value<number>`
    select ((select count(*) from outbox o where organization_id = ${organizationId}
               and (resume is null or not exists (select from retrying_deliveries r
                 where r.delivery_id = o.delivery_id)))
          + (select count(*) from held_deliveries where organization_id = ${organizationId})
          + (select count(*) from ordered_deliveries where organization_id = ${organizationId})
          + (select count(*) from retrying_deliveries where organization_id = ${organizationId}))::float8`;
}
