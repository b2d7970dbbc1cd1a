import type { OrderKey } from '../../core/delivery/ordering.ts';
import type { HeaderBytes } from '../../core/http/headers.ts';
import { othersFirst } from '../../core/process/event-loop.ts';
import { bytesParameter, jsonParameter, among, sql } from '../connections/statements.ts';
import type { Queryable } from '../connections/pool.ts';
import { countArrivals, countWithoutAttempt } from '../ledger/entries.ts';
import { toOutbox } from '../sql/rules.ts';

/** How a delivery ends whose route's schema or filter could not let it through. */
type GateFailure = 'schema_failed' | 'filter_failed';

const GATE_FAILED = `status in ('schema_failed', 'filter_failed')`;

export interface NewDelivery {
  id: string;
  routeId: string;
  /** Of the configuration by which the event was routed; `transformVersion` is null without a transform. */
  routeVersion: number;
  transformVersion: number | null;
  destinationId: string;
  priority: number;
  /** By its id; one with an ordering key gets the shard of that. */
  shard: number;
  /** Null or none: it waits for no other. */
  order?: OrderKey | null;
  /** All but `pending` ones are recorded as ended and never queued. */
  status: 'pending' | 'skipped' | GateFailure;
  /** Why it was ended; null when it is pending. */
  error: string | null;
}

export interface NewEvent {
  id: string;
  organizationId: string;
  /** The organization's config_version by which this event was verified and routed. */
  configVersion: number;
  sourceId: string;
  method: string;
  path: string;
  query: string;
  headers: HeaderBytes;
  clientAddress: string;
  /** Of the span that recorded it, or of the trace that was made for it; null or none: the sender's, in the headers. */
  traceparent?: string | null;
  body: Buffer;
  isText: boolean;
  payloadHash: string;
  receivedAt: Date;
  validatedAt: Date;
  deliveries: NewDelivery[];
  /** Routes that accepted this event, and routes whose filter refused it. */
  routed: string[];
  filtered: string[];
  idempotency: { keyHash: Buffer; windowSeconds: number } | null;
}

/** The outcome of a group. An event that is neither stored nor stale is a duplicate by its idempotency key. */
export interface StoreResult {
  stored: Set<string>;
  /** Routed by a configuration that its organization has changed since: not stored, to be routed again. */
  stale: Set<string>;
}

// What makes this safe under concurrency:
// - `fresh` compares the versions by which events were routed in the snapshot of the very statement that inserts, so no
//   event is routed by a configuration older than the last committed one. Only the events of that version wait for it:
//   an organization whose configuration keeps changing does not block others.
// - `first_uses` inserts on the primary key (source, key): of two concurrent repeats the second waits for the first,
//   then sees an unexpired row, returns nothing, and its event is not inserted. The key of an event that is gone,
//   however it went, is taken like an expired one; only repeats ask for that (event_is_stored). The group holds each
//   key once (the caller ensures it), and in one order everywhere, so that groups of several processes queue for each
//   other.
// - `keys_of_group` upserts the rows of ordering keys in the order of their primary key, and holds them until the
//   commit: groups with a key in common queue for it, and numbers follow commits. What it returns is of the locked row,
//   so a head that ended during the wait is seen.
// - an event's status comes from its totals by the rule of every other statement (event_status): without a delivery to
//   wait for it is delivered or failed at once.
// It does not notify the relays: that would lock all notifying commits of the server against each other (PostgreSQL's
// PreCommit_Notify) until this one is on disk. Anyone who calls it does so afterwards (wakeRelays). Bodies are taken
// from their array where they are stored: PostgreSQL copies what a common table expression or a function in FROM
// returns, to disk when it is large. Most groups are plain, and need no part that is only for keys or failures:
// PostgreSQL would prepare its run for every group.
const storing = ({ full, ordered }: { full: boolean; ordered: boolean }) => `
with fresh as (
  select used.organization_id, used.version
  from json_to_recordset($1::json) as used(organization_id text, version bigint)
  join organizations o on o.id = used.organization_id and o.config_version = used.version
), input as (
  select *
  from json_to_recordset($2::json) as i(ord int, id text, organization_id text, version bigint, source_id text,
         routed bool, method text, path text, query text, headers jsonb, client_address text, traceparent text,
         payload_size int, payload_hash text, is_text bool, deliveries_count int,
         deliveries_failed int, received_at timestamptz, validated_at timestamptz, key_hash text, key_seconds int)
  where (i.organization_id, i.version) in (select organization_id, version from fresh)
), ${full ? ACCEPTED_BY_KEYS : ALL_ACCEPTED}, stored_events as (
  insert into events (id, organization_id, source_id, status, routed, method, path, query, headers, client_address,
                      traceparent, payload_size, payload_hash, deliveries_count, deliveries_failed, received_at,
                      validated_at, queued_at)
  select id, organization_id, source_id, event_status(deliveries_count, 0, deliveries_failed), routed, method, path,
         query, headers, client_address, traceparent, payload_size, payload_hash, deliveries_count, deliveries_failed,
         received_at, validated_at, clock_timestamp()
  from accepted
), stored_payloads as (
  insert into event_payloads (event_id, is_text, body) select id, is_text, ($3::bytea[])[ord] from accepted
), delivery as (
  select d.*, a.organization_id, a.source_id ${ordered ? LATER_ONES_OF_KEY : ''}
  from json_to_recordset($4::json) as d(id text, event_id text, route_id text, route_version int,
    transform_version int, destination_id text, priority int, shard int, status text,
    error text${ordered ? ORDER_FIELDS : ''})
  join accepted a on a.id = d.event_id
), ${ordered ? NUMBERED : ''} stored_deliveries as (
  insert into deliveries (id, organization_id, event_id, source_id, route_id, route_version, transform_version,
                          destination_id, priority, status, counted, error,
                          finished_at${ordered ? ', order_hash, order_key, order_number' : ''})
  select id, organization_id, event_id, source_id, route_id, route_version, transform_version, destination_id, priority,
         status, status <> 'skipped', error, case when status <> 'pending' then now() end${ordered ? ORDER_VALUES : ''}
  from ${ordered ? 'numbered' : 'delivery'}
), queued as (
  ${toOutbox('d', { delivery_id: 'd.id', ...(ordered && { shard: SHARD, order_hash: 'd.hash' }) }, true)}
  from ${ordered ? HEADS_AND_UNORDERED : 'delivery d where'} d.status = 'pending'
), ${full ? `${countWithoutAttempt('delivery', { not_sent: GATE_FAILED })},` : ''} ${countArrivals('accepted', COUNTS)}
select (select json_agg(fresh) from fresh) as fresh, array(select id from accepted) as stored`;

// What number_delivery does for one delivery (db/schema/04-outbox.sql), for all of a group, once for each key. The
// number of a delivery is the last number of its key less the later ones of the group.
const ORDER_FIELDS = ', order_hash text, order_key text';
const ORDER_VALUES = ', hash, order_key, order_number';
const HEADS_AND_UNORDERED = 'numbered d where (d.head_id is null or d.head_id = d.id) and';
const SHARD = 'coalesce(get_byte(d.hash, 0) & 63, d.shard)';
// By status too: deliveries that have ended get no number.
const LATER_ONES_OF_KEY = `, decode(d.order_hash, 'hex') as hash, row_number() over (
    partition by d.destination_id, d.order_hash, d.status order by d.event_id collate "C" desc, d.id collate "C" desc
  ) - 1 as later_ones`;
const NUMBERED = `keys_of_group as (
  insert into order_keys as k (destination_id, key_hash, organization_id, key, last_number, waiting, head_id,
                               head_number, head_since)
  select destination_id, hash, organization_id, order_key, later_ones + 1, later_ones, id, 1, now()
  from (
    select distinct on (destination_id collate "C", hash) * from delivery where hash is not null and status = 'pending'
    order by destination_id collate "C", hash, later_ones desc
  ) first_of_key
  on conflict (destination_id, key_hash) do update
    set last_number = k.last_number + excluded.last_number, last_at = now(),
        waiting = k.waiting + excluded.waiting + (k.head_id is not null)::int,
        head_id = coalesce(k.head_id, excluded.head_id),
        head_number = coalesce(k.head_number, k.last_number + 1), head_since = coalesce(k.head_since, now())
  returning destination_id, key_hash, last_number, head_id
), numbered as (
  select d.*, k.head_id, k.last_number - d.later_ones as order_number
  from delivery d
  left join keys_of_group k on d.status = 'pending' and k.destination_id = d.destination_id and k.key_hash = d.hash
), waiting_in_order as (
  insert into ordered_deliveries (destination_id, key_hash, number, delivery_id, organization_id, event_id, source_id,
                                  route_id, priority)
  select destination_id, hash, order_number, id, organization_id, event_id, source_id, route_id, priority
  from numbered where head_id <> id
),`;

const COUNTS =
  'json_to_recordset($5::json) as c(event_id text, route_id text, events int, bytes int, routed int, filtered int, deliveries int)';
const ALL_ACCEPTED = 'accepted as (select * from input)';
const ACCEPTED_BY_KEYS = `first_uses as (
  insert into idempotency_keys as k (source_id, key_hash, event_id, expires_at)
  select source_id, decode(key_hash, 'hex'), id, now() + make_interval(secs => key_seconds)
  from input where key_hash is not null order by source_id collate "C", key_hash collate "C"
  on conflict (source_id, key_hash) do update set event_id = excluded.event_id, expires_at = excluded.expires_at
    where k.expires_at <= now() or not event_is_stored(k.event_id)
  returning event_id
), accepted as (
  select * from input i where key_hash is null or exists (select from first_uses f where f.event_id = i.id)
)`;

const PLAIN = { name: 'store-plain-events', text: storing({ full: false, ordered: false }) };
const ORDERED = { name: 'store-ordered-events', text: storing({ full: false, ordered: true }) };
const FULL = { name: 'store-events', text: storing({ full: true, ordered: true }) };

/** A plain group has no idempotency key, no ordering, and no delivery that ends as a failure at once. */
function statementFor(events: NewEvent[]): { name: string; text: string } {
  const fails = ({ status }: NewDelivery) => status === 'schema_failed' || status === 'filter_failed';
  if (events.some(({ idempotency, deliveries }) => idempotency !== null || deliveries.some(fails))) return FULL;
  return events.some(({ deliveries }) => deliveries.some(({ order }) => order)) ? ORDERED : PLAIN;
}

/**
 * @throws a database error; nothing is stored then, unless the connection was lost (isConnectionLost): then all or
 * nothing is stored
 */
export async function storeEvents(db: Queryable, events: NewEvent[]): Promise<StoreResult> {
  const versions = new Map(events.map((event) => [versionKey(versionOf(event)), versionOf(event)]));
  const bodies = bytesParameter(events.map((event) => event.body));
  await othersFirst(bodies.length);
  const { rows } = await db.query<{ fresh: Version[] | null; stored: string[] }>({
    ...statementFor(events),
    values: [
      jsonParameter([...versions.values()]),
      jsonParameter(events.map(eventRow)),
      bodies,
      jsonParameter(events.flatMap((event) => event.deliveries.map((delivery) => deliveryRow(event.id, delivery)))),
      jsonParameter(events.flatMap(counterRows)),
    ],
  });
  const row = rows[0];
  const fresh = new Set((row?.fresh ?? []).map(versionKey));
  return {
    stored: new Set(row?.stored ?? []),
    stale: new Set(events.filter((event) => !fresh.has(versionKey(versionOf(event)))).map(({ id }) => id)),
  };
}

/**
 * The configuration version by which events were routed; a group may hold events of one organization with two versions.
 */
interface Version {
  organization_id: string;
  version: number;
}

const versionOf = ({ organizationId, configVersion }: NewEvent): Version => ({
  organization_id: organizationId,
  version: configVersion,
});
const versionKey = ({ organization_id, version }: Version): string => `${organization_id} ${version}`;

function eventRow(event: NewEvent, index: number) {
  const skipped = event.deliveries.reduce((count, { status }) => count + (status === 'skipped' ? 1 : 0), 0);
  const open = event.deliveries.reduce((count, { status }) => count + (status === 'pending' ? 1 : 0), 0);
  return {
    ord: index + 1,
    id: event.id,
    ...versionOf(event),
    source_id: event.sourceId,
    routed: event.deliveries.length > 0,
    method: event.method,
    path: event.path,
    query: event.query,
    headers: event.headers,
    client_address: event.clientAddress,
    traceparent: event.traceparent,
    payload_size: event.body.length,
    payload_hash: event.payloadHash,
    is_text: event.isText,
    deliveries_count: event.deliveries.length - skipped,
    deliveries_failed: event.deliveries.length - skipped - open,
    received_at: event.receivedAt,
    validated_at: event.validatedAt,
    key_hash: event.idempotency?.keyHash.toString('hex') ?? null,
    key_seconds: event.idempotency?.windowSeconds ?? null,
  };
}

function deliveryRow(eventId: string, delivery: NewDelivery) {
  return {
    id: delivery.id,
    event_id: eventId,
    route_id: delivery.routeId,
    route_version: delivery.routeVersion,
    transform_version: delivery.transformVersion,
    destination_id: delivery.destinationId,
    priority: delivery.priority,
    shard: delivery.shard,
    status: delivery.status,
    error: delivery.error,
    ...(delivery.order && { order_hash: delivery.order.hash, order_key: delivery.order.text }),
  };
}

/** Of each route; the first row counts the event as well, so that most events make one. */
function counterRows(event: NewEvent) {
  const routes = [
    ...event.routed.map((id) => ({ route_id: id, routed: 1 })),
    ...event.filtered.map((id) => ({ route_id: id, filtered: 1 })),
  ];
  const [first = { route_id: '' }, ...others] = routes;
  const counts = { events: 1, bytes: event.body.length, deliveries: event.deliveries.length };
  return [{ ...first, ...counts }, ...others].map((row) => ({ event_id: event.id, ...row }));
}

/** The event that first used an idempotency key inside its window, or null when it is gone. */
export async function findFirstEvent(db: Queryable, sourceId: string, keyHash: Buffer): Promise<string | null> {
  const { rows } = await db.query<{ event_id: string }>({
    name: 'find-first-event',
    text: 'select event_id from idempotency_keys where source_id = $1 and key_hash = $2 and event_is_stored(event_id)',
    values: [sourceId, keyHash],
  });
  return rows[0]?.event_id ?? null;
}

export async function findStored(db: Queryable, events: NewEvent[]): Promise<string[]> {
  const ids = events.map(({ id }) => id);
  return sql(db).column`
    select id from events where ${among('id', ids)}
      and organization_id = any(${events.map(({ organizationId }) => organizationId)}::text[])`;
}
