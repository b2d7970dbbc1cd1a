// Loads the inputs of attempts: one statement for many deliveries. Configuration is not read here but by version
// through a cache (activities/config-cache.ts), so an unchanged destination costs two integers.
import type { ReceivedAddress } from '../../core/delivery/delivery-url.ts';
import type { HeaderBytes } from '../../core/http/headers.ts';
import type { ErrorSummary } from '../../core/text/error-summary.ts';
import { firstDeliveryOf, circuitBlocks, pauseBlocks } from '../sql/rules.ts';
import { bounds, sql } from '../connections/statements.ts';
import type { Queryable } from '../connections/pool.ts';
import { statementOfDay, type Tables } from '../sql/partitions.ts';

export interface AttemptContext {
  deliveryId: string;
  organizationId: string;
  eventId: string;
  sourceId: string;
  routeId: string | null;
  destinationId: string;
  status: string;
  attemptCount: number;
  statusCode: number | null;
  error: ErrorSummary | null;
  /** Until its next attempt, ms, negative when that is overdue; null when it waits for none. */
  retryInMs: number | null;
  /** Set on a delivery to a failover destination: the original destination, and why it did not get the event. */
  originalDestinationId: string | null;
  failoverReason: string | null;
  /** Of such a delivery: the destinations of those before it that were handed over. */
  failedOver: string[];
  /** Its ordering key, and its place there; null: it is in no order. */
  orderHash: Buffer | null;
  orderKey: string | null;
  orderNumber: number | null;
  inCircuit: boolean;
  blocked: boolean;
  /** Null when the event is gone. */
  eventHeaders: HeaderBytes | null;
  /** Null when the payload was removed by the retention, and when it is apart. */
  body: Buffer | null;
  /** Whether the payload was too large to be loaded with others (`mostBytes`). */
  isBodyApart: boolean;
  /** Bytes of the payload as it was received; null when the event is gone. */
  payloadSize: number | null;
  /** Null when the source, destination or route has been deleted. */
  sourceSlug: string | null;
  destinationVersion: number | null;
  currentRouteVersion: number | null;
  /** By which it was made; null: by no route, or without a transform. */
  routeVersion: number | null;
  transformVersion: number | null;
  /**
   * Of the span that recorded the webhook, or of the trace that was made for it; null: the sender's, or the event is
   * gone.
   */
  traceparent: string | null;
  replayOf: string | null;
  /** The event's metadata for transforms; null when the event is gone. */
  eventMethod: string | null;
  eventPath: string | null;
  eventQuery: string | null;
  receivedAt: Date | null;
}

export function receivedAddress(context: Pick<AttemptContext, 'eventPath' | 'eventQuery'>): ReceivedAddress {
  return { path: context.eventPath ?? '', query: context.eventQuery ?? '' };
}

// It is none to a failover destination, and its route still leads to its destination.
const IN_CIRCUIT = '(d.original_destination_id is null and coalesce(d.destination_id = any(r.destination_ids), false))';

// The bounds on the ids let PostgreSQL open only the partitions of those days (an array alone prunes nothing).
// `lateral` with a limit is one probe each: otherwise a plan that was made while the tables were small reads all events
// between the oldest and the newest of a group.
const loadFrom = ({ events, event_payloads, deliveries }: Tables) => `
select d.id as "deliveryId", d.organization_id as "organizationId", d.event_id as "eventId", d.source_id as "sourceId",
       d.route_id as "routeId", d.destination_id as "destinationId", d.status, d.attempt_count as "attemptCount",
       d.status_code as "statusCode", d.error_summary as error,
       extract(epoch from d.next_attempt_at - now())::float8 * 1000 as "retryInMs",
       d.order_hash as "orderHash", d.order_key as "orderKey", d.order_number as "orderNumber",
       d.original_destination_id as "originalDestinationId", d.failover_reason as "failoverReason",
       e.headers as "eventHeaders", p.body, coalesce(e.payload_size > $6, false) as "isBodyApart",
       e.payload_size as "payloadSize", s.slug as "sourceSlug", t.version as "destinationVersion",
       r.version as "currentRouteVersion", d.route_version as "routeVersion", d.transform_version as "transformVersion",
       e.traceparent, d.replay_of as "replayOf", e.method as "eventMethod", e.path as "eventPath",
       e.query as "eventQuery", e.received_at as "receivedAt",
       coalesce(${pauseBlocks('c')} or ${pauseBlocks('dc')} or ${IN_CIRCUIT} and ${circuitBlocks('c', 'd.id')},
         false) as blocked,
       ${IN_CIRCUIT} as "inCircuit"
from ${deliveries} d
left join lateral (select * from ${events} where id = d.event_id and id between $4 and $5 limit 1) e on true
left join lateral (select body from ${event_payloads} where event_id = d.event_id and event_id between $4 and $5
                   and e.payload_size <= $6 limit 1) p on true
left join sources s on s.id = d.source_id
left join destinations t on t.id = d.destination_id
left join routes r on r.id = d.route_id
left join circuits c on c.route_id = d.route_id
left join circuits dc on dc.route_id = d.destination_id
where d.id = any($1::text[]) and d.id between $2 and $3`;

const statementFor = statementOfDay('load-attempts', loadFrom);

const ANY_SIZE = 2_147_483_647;

/**
 * Loads deliveries by id; one that does not exist (any more) is missing from the map.
 * @param options.mostBytes larger payloads are left out
 * @param options.asTenant whether `db` has the rights of a tenant, which are rights to the partitioned tables
 * (db/schema/roles.ts)
 */
export async function loadAttempts(
  db: Queryable,
  wanted: { deliveryId: string; eventId: string }[],
  { mostBytes = ANY_SIZE, asTenant = false }: { mostBytes?: number; asTenant?: boolean } = {},
): Promise<Map<string, AttemptContext>> {
  const deliveries = bounds(wanted.map((item) => item.deliveryId));
  const events = bounds(wanted.map((item) => item.eventId));
  const { rows } = await db.query<Omit<AttemptContext, 'failedOver'>>({
    ...(asTenant ? statementFor() : statementFor(events.low, events.high, deliveries.low, deliveries.high)),
    values: [deliveries.ids, deliveries.low, deliveries.high, events.low, events.high, mostBytes],
  });
  const failovers = await destinationsBefore(db, rows);
  return new Map(rows.map((row) => [row.deliveryId, { ...row, failedOver: failovers.get(row.deliveryId) ?? [] }]));
}

/** The exact bytes of an event that exists; null when the retention removed them. */
export async function loadPayload(db: Queryable, eventId: string): Promise<Buffer | null> {
  const [body = null] = await sql(db).column<Buffer>`select body from event_payloads where event_id = ${eventId}`;
  return body;
}

// A probe for each delivery of a chain, which are few.
const BEFORE = `
with recursive chain(id, earlier, destination_id) as (
  select id, failover_of, null::text collate "C" from deliveries where id = any($1::text[]) and id between $2 and $3
  union all
  select c.id, p.failover_of, p.destination_id
  from chain c
  cross join lateral (
    select failover_of, destination_id from deliveries where id = c.earlier and id between $4 and $3 limit 1
  ) p
)
select id, array_agg(destination_id) as destinations from chain where destination_id is not null group by id`;

/**
 * The destinations of the deliveries that were handed over before these, by the id of the delivery to a failover
 * destination. Only for these there is a statement.
 */
export async function destinationsBefore(
  db: Queryable,
  deliveries: Pick<AttemptContext, 'deliveryId' | 'eventId' | 'originalDestinationId'>[],
): Promise<Map<string, string[]>> {
  const failovers = deliveries.filter(({ originalDestinationId }) => originalDestinationId !== null);
  if (failovers.length === 0) return new Map();
  const { ids, low, high } = bounds(failovers.map(({ deliveryId }) => deliveryId));
  const first = firstDeliveryOf(bounds(failovers.map(({ eventId }) => eventId)).low);
  const { rows } = await db.query<{ id: string; destinations: string[] }>({
    name: 'destinations-before',
    text: BEFORE,
    values: [ids, low, high, first],
  });
  return new Map(rows.map(({ id, destinations }) => [id, destinations]));
}
