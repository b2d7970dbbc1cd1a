// The ledger: parts of the statements that store webhooks, record attempts and end deliveries, so that a count is
// committed with what it counts. Inserts only: entries have no key, so these parts wait for nothing and may come in any
// order. Readers add entries and roll-ups in one statement, so in one snapshot, in which an entry is either still there
// or rolled up.
import { type Fragment, fragment, part, raw } from '../connections/statements.ts';

/** The bucket of a count. @param at an expression: when it happened */
export const bucketOf = (at: string): string => `date_bin('5 minutes', ${at}, 'epoch')`;

/** Stands for the status code of an attempt without an answer. */
export const NO_ANSWER = 0;
/** Stands for every code outside of 100 to 599, so that a destination cannot make ever more rows by what it answers. */
export const OTHER_CODE = 600;

/**
 * A CTE `counted` that counts the webhooks of a group.
 * @param accepted the CTE of the events: id, organization_id, source_id, received_at
 * @param counts rows `c` with event_id, route_id, events, bytes, routed, filtered, deliveries
 */
export const countArrivals = (accepted: string, counts: string): string => `counted as (
  insert into ledger_entries (organization_id, bucket, source_id, route_id, events, bytes, routed, filtered,
    deliveries, last_event_at)
  select a.organization_id, ${bucketOf('a.received_at')}, a.source_id, c.route_id, sum(c.events), sum(c.bytes),
         sum(c.routed), sum(c.filtered), sum(c.deliveries), max(a.received_at)
  from ${counts} join ${accepted} a on a.id = c.event_id
  group by 1, 2, 3, 4
)`;

/**
 * A CTE `counted` that counts attempts and the deliveries that they ended.
 * @param changed the CTE of the deliveries that the attempts changed
 */
export const countAttemptsInLedger = (changed: string): string => `counted as (
  insert into ledger_entries (organization_id, bucket, source_id, route_id, destination_id, code, attempts,
                              latency_sum, latencies, delivered, failed, failed_over, last_success_at, last_failure_at)
  select organization_id, ${bucketOf('completed_at')}, source_id, coalesce(route_id, ''), destination_id,
         case when status_code is null then ${NO_ANSWER} when status_code between 100 and 599 then status_code
           else ${OTHER_CODE} end,
         count(*), sum(latency) filter (where status_code is not null),
         array_agg(array[latency_class, 1]) filter (where latency_class is not null),
         count(*) filter (where delivery_status = 'delivered'), count(*) filter (where delivery_status = 'failed'),
         count(*) filter (where delivery_status = 'failed_over'),
         max(completed_at) filter (where delivery_status = 'delivered'),
         max(completed_at) filter (where delivery_status <> 'delivered')
  from ${changed}
  group by 1, 2, 3, 4, 5, 6
)`;

/** What may happen to deliveries without an attempt. `deliveries`: they are made. `not_sent`: they fail. */
type Change = 'deliveries' | 'failed_over' | 'not_sent' | 'cancelled';

/**
 * A CTE `uncontacted` that counts deliveries which are made now, or end without an attempt; it writes nothing when
 * there are none.
 * @param changed a CTE with their organization_id, source_id, route_id and destination_id
 * @param conditions to which of its rows what happens
 */
export function countWithoutAttempt(changed: string, conditions: Partial<Record<Change, string>>): string {
  const entries = Object.entries(conditions);
  return `uncontacted as (
  insert into ledger_entries (organization_id, bucket, source_id, route_id, destination_id,
    ${entries.map(([name]) => name).join(', ')})
  select organization_id, ${bucketOf('now()')}, source_id, coalesce(route_id, ''), destination_id,
         ${entries.map(([, condition]) => `count(*) filter (where ${condition})`).join(', ')}
  from ${changed}
  where ${entries.map(([, condition]) => `(${condition})`).join(' or ')}
  group by 1, 2, 3, 4, 5
)`;
}

/**
 * A CTE `freed` for a statement that deletes events: their payloads are no longer stored.
 * @param gone the CTE of these events: organization_id, source_id, received_at, payload_size
 */
export const countRemoved = (gone: string): string => `freed as (
  insert into ledger_entries (organization_id, bucket, source_id, removed_bytes)
  select organization_id, ${bucketOf('received_at')}, source_id, sum(payload_size) from ${gone} group by 1, 2, 3
)`;

export const SUMS = [
  'events',
  'bytes',
  'routed',
  'filtered',
  'deliveries',
  'removed_bytes',
  'attempts',
  'latency_sum',
  'delivered',
  'failed',
  'failed_over',
  'not_sent',
  'cancelled',
] as const;
/** The columns that keep the later time. */
export const LATEST = ['last_event_at', 'last_success_at', 'last_failure_at'] as const;

const KEY = ['organization_id', 'bucket', 'source_id', 'route_id', 'destination_id', 'code'];
const COLUMNS = raw([...KEY, ...SUMS, ...LATEST, 'latencies'].join(', '));

const both = (step: string, condition: string | Fragment): Fragment => fragment`(
  select ${COLUMNS} from rollups where ${raw(step)} and ${part(condition)}
  union all
  select ${COLUMNS} from ledger_entries where ${part(condition)}
)`;

/**
 * Rows of the last month, in buckets of 5 minutes or, older than a day, of an hour.
 * @param condition on their columns
 */
export const recent = (condition: string | Fragment): Fragment => both('step in (300, 3600)', condition);

/** Rows of all time. @param condition on columns other than `bucket` */
export const ever = (condition: string | Fragment): Fragment => both(`step = 0 and bucket = 'epoch'`, condition);

/** Of organizations by day (UTC). @param condition on `organization_id` @param since an expression: the first day */
export const byDay = (condition: Fragment, since: Fragment): Fragment => fragment`(
  select organization_id, bucket, events, bytes, removed_bytes, deliveries, attempts, failed_over from rollups
  where step = 86400 and ${condition} and bucket >= ${since}
  union all
  select organization_id, ${raw(dayOf('bucket'))}, events, bytes, removed_bytes, deliveries, attempts, failed_over
  from ledger_entries where ${condition} and bucket >= ${since}
)`;

/** The beginning of the day (UTC) of a time. @param at an expression */
export const dayOf = (at: string): string => `date_bin('1 day', ${at}, 'epoch')`;
