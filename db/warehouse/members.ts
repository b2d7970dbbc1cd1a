// The deliveries of a batch: what its file is made of, and which of them have not ended. Planned for every call, as the statements on
// batches (batches.ts), but for the one that reads events.
import { bounds } from '../connections/parameters.ts';
import type { Queryable } from '../connections/pool.ts';
import type { BatchUnderWay } from './batches.ts';

/** A delivery of a batch. */
export interface BatchMember {
  deliveryId: string;
  eventId: string;
  routeId: string | null;
  /** The delivery that this one replays. */
  replayOf: string | null;
  /** Null when the source was deleted. */
  sourceSlug: string | null;
  /** Whether its route had a transform when it was made. */
  isTransformed: boolean;
  /** Bytes; null when the event is gone. */
  payloadSize: number | null;
  /** Null when the event is gone. */
  receivedAt: Date | null;
}

const CONTENT = `
select d.id as "deliveryId", d.event_id as "eventId", d.route_id as "routeId", d.replay_of as "replayOf", s.slug as "sourceSlug",
       d.transform_version is not null as "isTransformed", e.payload_size as "payloadSize", e.received_at as "receivedAt"
from deliveries d
left join lateral (select payload_size, received_at from events where id = d.event_id limit 1) e on true
left join sources s on s.id = d.source_id
where d.destination_id = $1 and d.id between $2 and $3 and d.batch_id = $4 and d.status in ('pending', 'delivered')
order by e.received_at, d.event_id, d.id`;

/**
 * The deliveries of a batch's file, in the order of its rows. A delivery that ended otherwise (its event was deleted, its
 * transform failed) has no row in this upload and in later ones. A delivered one has a row: an upload that was overtaken by a
 * newer one must not write less than that one.
 */
export async function batchContent(db: Queryable, batch: BatchUnderWay): Promise<BatchMember[]> {
  const { rows } = await db.query<BatchMember>(CONTENT, rangeOf(batch));
  return rows;
}

/** An event as a row of a file shows it. */
interface EventContent {
  id: string;
  /** JSON of an object; names in lowercase. */
  headers: string;
  /** The payload if it is text without NUL; null: it is in `bytes`, or was removed by the retention. */
  text: string | null;
  bytes: Buffer | null;
}

// Text crosses as text: in hexadecimal it would be twice as long, and would have to be decoded. `lateral` with a limit is one probe each.
const EVENTS = `
select e.id, e.headers::text as headers, case when p.is_text then convert_from(p.body, 'UTF8') end as text,
       case when not p.is_text then p.body end as bytes
from events e
left join lateral (select is_text, body from event_payloads where event_id = e.id and event_id between $2 and $3 limit 1) p on true
where e.id = any($1::text[]) and e.id between $2 and $3`;

/** Reads events by id, on the hot-path pool; one that is gone is missing from the map. */
export async function readEvents(db: Queryable, eventIds: string[]): Promise<Map<string, EventContent>> {
  if (eventIds.length === 0) return new Map();
  const { ids, low, high } = bounds(eventIds);
  const { rows } = await db.query<EventContent>({ name: 'events-of-files', text: EVENTS, values: [ids, low, high] });
  return new Map(rows.map((row) => [row.id, row]));
}

/** A delivery that has not ended. */
export interface OpenMember {
  deliveryId: string;
  eventId: string;
  routeId: string | null;
  routeVersion: number | null;
  attemptCount: number;
  originalDestinationId: string | null;
}

const OPEN = `
select d.id as "deliveryId", d.event_id as "eventId", d.route_id as "routeId", d.route_version as "routeVersion", d.attempt_count as "attemptCount",
       d.original_destination_id as "originalDestinationId"
from deliveries d
where d.destination_id = $1 and d.id between $2 and $3 and d.batch_id = $4 and d.status = 'pending' and d.id > $5
order by d.id limit $6`;

/** Deliveries of a batch that have not ended, in the order of their ids. */
export async function openMembers(
  db: Queryable,
  batch: BatchUnderWay,
  { after, limit }: { after: string; limit: number },
): Promise<OpenMember[]> {
  const { rows } = await db.query<OpenMember>(OPEN, [...rangeOf(batch), after, limit]);
  return rows;
}

function rangeOf(batch: BatchUnderWay): [string, string, string, string] {
  return [batch.destinationId, batch.firstDeliveryId, batch.lastDeliveryId, batch.id];
}
