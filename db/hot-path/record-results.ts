import { errorText, type DescribedError } from '../../core/text/error-summary.ts';
import type { Lane } from '../../core/delivery/delivery.ts';
import { bounds, jsonParameter } from '../connections/statements.ts';
import type { Queryable } from '../connections/pool.ts';
import {
  failOver,
  firstEnabled,
  KEYS_LOCKED,
  lockKeys,
  OPEN,
  PRIMARY_DESTINATION,
  unqueue,
  WAKE_RELAYS,
} from '../sql/rules.ts';
import { statementOfDay, type Tables } from '../sql/partitions.ts';
import { countAttemptsInLedger } from '../ledger/entries.ts';
import { noteOutcomes } from '../messages/route-mails.ts';

/** The network exchange of an attempt. Times in ms; null: not reached, or there was no such step. */
export interface AttemptExchange {
  /** Where the connection went, or was tried last; null: nowhere. */
  address: string | null;
  port: number | null;
  /** Whether the connection was there before. */
  reused: boolean;
  dns: number | null;
  connect: number | null;
  tls: number | null;
  firstByte: number | null;
  destinationVersion: number | null;
}

const NONE = '-';

/**
 * How an attempt went over the network, and by which version of its destination, in one short text: as JSON it would be
 * three times as long, and every attempt has it. `127.0.0.1 443 0 - 0.4 8.1 20.3 2`: address, port, whether the
 * connection was there before, ms of look-up, connection, TLS and first byte, version of the destination.
 */
export function exchangeText(exchange: AttemptExchange): string {
  const { address, port, reused, dns, connect, tls, firstByte, destinationVersion } = exchange;
  return [address, port, reused ? 1 : 0, dns, connect, tls, firstByte, destinationVersion]
    .map((part) => part ?? NONE)
    .join(' ');
}

/** Null: not known, because the attempt was recorded from a summary, or there was nothing to connect to. */
export function readExchange(text: string | null): AttemptExchange | null {
  if (text === null) return null;
  const [address = NONE, ...parts] = text.split(' ');
  const [port, reused, dns, connect, tls, firstByte, destinationVersion] = parts.map(numberOf);
  return {
    address: address === NONE ? null : address,
    port: port ?? null,
    reused: reused === 1,
    dns: dns ?? null,
    connect: connect ?? null,
    tls: tls ?? null,
    firstByte: firstByte ?? null,
    destinationVersion: destinationVersion ?? null,
  };
}

function numberOf(part: string): number | null {
  return part === NONE ? null : Number(part);
}

/**
 * CTEs that add outcomes to the totals of their events, the ledger and the notifications, for a statement whose main
 * query reads `noted`. Its CTE `changed` holds the deliveries that attempts have changed: id, organization_id,
 * event_id, source_id, destination_id, route_id, counted, primary_id, delivery_status, attempt, status_code, error,
 * error_summary, latency, latency_class, completed_at. What makes this safe under concurrency is said in
 * record-results.ts.
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
), ${countAttemptsInLedger('changed')}, ended as (
  select organization_id, route_id, source_id, destination_id, primary_id, event_id, id as delivery_id,
         delivery_status as status, attempt as attempts, status_code, error_summary, completed_at as at
  from changed where delivery_status in ('delivered', 'failed')
), ${noteOutcomes('ended')}`;

export interface AttemptResult {
  deliveryId: string;
  eventId: string;
  attemptNumber: number;
  /** `retrying` waits for the next attempt; the others end the delivery. Unless `failover` finds a destination. */
  deliveryStatus: 'delivered' | 'failed' | 'retrying';
  statusCode: number | null;
  error: DescribedError | null;
  /** Of the network or of ours, where there was no response and it is known. Not stored. */
  errorCode?: string;
  /** ms */
  latency: number;
  /** Upper edge of the latency's class (core/metrics/latency-classes.ts); null when there was no response. */
  latencyClass: number | null;
  startedAt: Date;
  completedAt: Date;
  /** With `retrying`: until the next attempt, ms. */
  retryInMs: number | null;
  requestHeaders: Record<string, string>;
  responseHeaders: Record<string, string> | null;
  /** At most 16 KiB. */
  responseBody: string | null;
  /** Null: not known. */
  exchange: AttemptExchange | null;
  lane: Lane;
  failover: FailoverOffer | null;
  /** The ordering key of the delivery; null or none: it has none. */
  orderKey?: { destinationId: string; hash: Buffer } | null;
  /** How long it blocks its key, because it has used up its retries; null or none: it does not. */
  holdSeconds?: number | null;
}

/** What is stored of a request and its answer when neither was captured. */
export const NOT_CAPTURED = { requestHeaders: {}, responseHeaders: null, responseBody: null };

export interface FailoverOffer {
  organizationId: string;
  candidates: string[];
  deliveryId: string;
  shard: number;
  originalDestinationId: string;
  reason: string;
}

// What makes this safe under concurrency:
// - a delivery changes only while it is open and only forward (`attempt_count < attempt`), so recording the same
//   attempt again, after a crash or by a second worker, changes nothing and counts nothing;
// - event totals are added to under the row lock of the event, and its status is computed from the new totals, so the
//   last of several deliveries that finish at once closes the event. That update must not bound e.id by parameters, for
//   the reason of the next point;
// - deliveries are joined by `d.id || ''`, so that the join cannot prune partitions of what the parameters have pruned
//   already: with both, PostgreSQL 18 loses the update that had to wait for its row, and all that come after it in the
//   statement (docs/internals/postgresql-18.md, test/db/lost-updates.test.ts);
// - a failover delivery is chosen and created in the same statement that ends the one it replaces, so exactly one of
//   them is always open; the first stops counting in its event and the second counts instead, so the totals stay as
//   they are;
// - notifications of routes are recorded here too (db/messages/route-mails.ts), at the cost of one lookup per ended
//   delivery's route;
// - deliveries are looked up by their ids and not by the range these span: a group with one old delivery would else
//   read every delivery since;
// - events are taken in the order of their ids, as pages of replays take them. A hash
//   join, which PostgreSQL may choose where a partition is small, does not keep to it. Should two meet then, it aborts
//   one with a deadlock error, which rolls it back whole, and the caller repeats it. To lock the events first would
//   take 9 µs for each: a twentieth of what PostgreSQL does for a delivery in a file.
const TRIED = `delivery_id, attempt, delivery_status, status_code, error, latency, started_at, completed_at,
         request_headers, response_headers, response_body, exchange`;

const WAKES_FOR_FAILOVER = `, case when ch.next_destination_id is not null then ${WAKE_RELAYS} end`;

// Keys are locked before deliveries, in their order: results of several keys are recorded beside webhooks of several
// keys (db/hot-path/store-events.ts). What blocks its key is marked before the trigger of its end runs
// (db/schema/04-outbox.sql), which is at the end of the statement.
const KEYS = `select key_destination as destination, decode(key_hash, 'hex') as hash from input`;
const KEYS_OF_FAILOVER = `${KEYS} union all
    select next_destination_id, decode(key_hash, 'hex') from input where next_destination_id is not null`;
const BLOCK_KEYS = `blocking as materialized (
  select block_key(c.destination_id, c.order_hash, c.id, c.order_number, c.hold_seconds)
  from changed c where c.delivery_status = 'failed' and c.hold_seconds is not null
)`;

const recording =
  ({ full, ordered }: { full: boolean; ordered: boolean }) =>
  ({ events, deliveries, attempts }: Tables) =>
    `
with input as (
  ${full ? INPUT_WITH_FAILOVER : ordered ? INPUT_IN_ORDER : INPUT}
), ${ordered ? `${lockKeys(full ? KEYS_OF_FAILOVER : KEYS)},` : ''} changed as (
  update ${deliveries} d
  set status = i.delivery_status, attempt_count = i.attempt, status_code = i.status_code, latency = i.latency,
      error = i.error, error_summary = i.error_summary,
      next_attempt_at = case when i.delivery_status = 'retrying'
        then now() + make_interval(secs => i.retry_ms / 1000) end,
      lane = coalesce(d.lane, i.attempt_lane), counted = d.counted and i.delivery_status <> 'failed_over',
      delivered_at = case when i.delivery_status = 'delivered' then i.completed_at end,
      finished_at = case when i.delivery_status <> 'retrying' then i.completed_at end
  from input i
  where d.id || '' = i.delivery_id and d.id = any($4::text[]) and d.id between $2 and $3
    and d.status in ${OPEN} and d.attempt_count < i.attempt ${ordered ? `and ${KEYS_LOCKED}` : ''}
  returning d.id, d.organization_id, d.event_id, d.source_id, d.destination_id, d.route_id, d.route_version,
    d.transform_version, d.priority, d.counted, ${ordered ? 'd.order_hash, d.order_key, d.order_number,' : ''}
    ${PRIMARY_DESTINATION} as primary_id, i.*
), ${ordered ? `${BLOCK_KEYS},` : ''} ${full ? `${otherOf(deliveries)},` : ''} tried as (
  insert into ${attempts} (delivery_id, attempt_number, status, status_code, error, latency, started_at, completed_at,
                        request_headers, response_headers, response_body, exchange)
  select delivery_id, attempt, case when delivery_status = 'delivered' then 'success' else 'failed' end, status_code,
         error, latency, started_at, completed_at, request_headers, response_headers, response_body, exchange
  from (select ${TRIED} from changed ${full ? `union all select ${TRIED} from other` : ''}) t
  on conflict do nothing
), claimed as (
  -- in the express lane the row stays until the workflow that continues has been started
  ${unqueue('changed', "(e.attempt_lane = 'workflow' or e.delivery_status not in ('retrying', 'failed'))")}
), ${full ? `${failOver('next_destination_id', 'original_destination_id', 'failover_reason')},` : ''} ${countOutcomes(events)}
select ch.id, ch.destination_id as "destinationId", ch.route_id as "routeId",
       ch.delivery_status = 'failed_over' as "failedOver",
       -- only attempts of primary deliveries count in the circuit, and a success only where there is something to
       -- change
       ch.route_id is not null and ch.primary_id = ch.destination_id
         and (ch.delivery_status <> 'delivered'
           or coalesce(c.failure_count > 0 or c.state <> 'closed', false)) as "countsInCircuit",
       (select written from noted) as notifications${full ? WAKES_FOR_FAILOVER : ''}
       ${ordered ? ', (select count(*) from blocking)' : ''}
from changed ch left join circuits c on c.route_id = ch.route_id`;

const FIELDS = `delivery_id text, attempt int, outcome text, status_code int, error text, error_summary text,
    latency int, latency_class int, started_at timestamptz, completed_at timestamptz, retry_ms float8,
    request_headers jsonb, response_headers jsonb, response_body text, exchange text, attempt_lane text`;
const INPUT = `select i.*, i.outcome as delivery_status from json_to_recordset($1::json) as i(${FIELDS})`;
const ORDER_FIELDS = 'key_destination text, key_hash text, hold_seconds int';
const INPUT_IN_ORDER = `select i.*, i.outcome as delivery_status
  from json_to_recordset($1::json) as i(${FIELDS}, ${ORDER_FIELDS})`;
const INPUT_WITH_FAILOVER = `select i.*, next.id as next_destination_id, case when next.id is null then i.outcome
  else 'failed_over' end as delivery_status
  from json_to_recordset($1::json) as i(${FIELDS},
    ${ORDER_FIELDS}, candidates text[], candidates_of text, next_id text,
    next_shard int, original_destination_id text,
    failover_reason text)
  left join lateral (${firstEnabled('i.candidates', 'i.candidates_of')}
  ) next on true`;

// A delivery that was cancelled while the attempt was running: the attempt is still part of its history.
const otherOf = (deliveries: string) => `other as (
  select i.* from input i join ${deliveries} d on d.id || '' = i.delivery_id and d.id = any($4::text[])
    and d.id between $2 and $3
  where (select count(*) from changed) < (select count(*) from input)
    and not exists (select from changed c where c.id = i.delivery_id)
)`;

// Most groups are plain, and need no part that is only for failovers and for deliveries that have ended: PostgreSQL
// would prepare its run for every group.
const plainFor = statementOfDay('record-plain-results', recording({ full: false, ordered: false }));
const orderedFor = statementOfDay('record-ordered-results', recording({ full: false, ordered: true }));
const fullFor = statementOfDay('record-results', recording({ full: true, ordered: true }));

export interface ChangedDelivery {
  destinationId: string;
  routeId: string | null;
  failedOver: boolean;
  countsInCircuit: boolean;
}

/**
 * @returns the deliveries that changed, by id; one that is missing was closed, deleted or already recorded
 * @throws a database error; nothing is recorded then and the same call may be repeated
 */
export async function recordResults(db: Queryable, results: AttemptResult[]): Promise<Map<string, ChangedDelivery>> {
  if (results.some(({ failover }) => failover !== null)) return record(db, results, fullFor);
  const isOrdered = results.some(({ orderKey }) => orderKey);
  const changed = await record(db, results, isOrdered ? orderedFor : plainFor);
  // Those that had ended, or were recorded before.
  const others = results.filter(({ deliveryId }) => !changed.has(deliveryId));
  if (others.length > 0) await record(db, others, fullFor);
  return changed;
}

async function record(
  db: Queryable,
  results: AttemptResult[],
  statementFor: typeof fullFor,
): Promise<Map<string, ChangedDelivery>> {
  const deliveries = bounds(results.map((result) => result.deliveryId));
  const events = bounds(results.map((result) => result.eventId));
  const { rows } = await db.query<ChangedDelivery & { id: string }>({
    ...statementFor(events.low, events.high, deliveries.low, deliveries.high),
    values: [jsonParameter(results.map(resultRow)), deliveries.low, deliveries.high, deliveries.ids],
  });
  return new Map(rows.map((row) => [row.id, row]));
}

function resultRow(result: AttemptResult) {
  return {
    delivery_id: result.deliveryId,
    attempt: result.attemptNumber,
    outcome: result.deliveryStatus,
    status_code: result.statusCode,
    error: result.error && errorText(result.error.detail),
    error_summary: result.error?.summary,
    latency: result.latency,
    latency_class: result.latencyClass,
    started_at: result.startedAt,
    completed_at: result.completedAt,
    retry_ms: result.retryInMs,
    request_headers: result.requestHeaders,
    response_headers: result.responseHeaders,
    response_body: result.responseBody,
    exchange: result.exchange && exchangeText(result.exchange),
    attempt_lane: result.lane,
    key_destination: result.orderKey?.destinationId,
    key_hash: result.orderKey?.hash.toString('hex'),
    hold_seconds: result.holdSeconds,
    next_id: result.failover?.deliveryId,
    candidates: result.failover?.candidates,
    candidates_of: result.failover?.organizationId,
    next_shard: result.failover?.shard,
    original_destination_id: result.failover?.originalDestinationId,
    failover_reason: result.failover && errorText(result.failover.reason),
  };
}
