// Reads events. An event whose source was deleted is invisible from then on (every statement joins the source), while its rows
// are removed in the background. Statements bound the ids, so that PostgreSQL opens only the partitions of those days.
import type { TypedBody } from '../../core/forms/index.ts';
import type { HeaderBytes } from '../../core/http/header-text.ts';
import { idFloor } from '../../core/text/ids.ts';
import { bounds } from '../parameters.ts';
import { inSnapshot, type Pool, type Queryable } from '../connections/pool.ts';
import { findPart } from './lists/find.ts';
import type { Part } from './lists/part.ts';
import { madeIn, type Selection } from './selection.ts';

export interface EventRecord {
  id: string;
  sourceId: string;
  sourceName: string;
  status: 'pending' | 'delivered' | 'partial' | 'failed';
  routed: boolean;
  method: string;
  path: string;
  query: string;
  headers: HeaderBytes;
  clientAddress: string;
  /** Of the span that recorded it; null: none did. */
  traceparent: string | null;
  payloadSize: number;
  payloadHash: string;
  deliveriesCount: number;
  deliveriesSucceeded: number;
  deliveriesFailed: number;
  receivedAt: Date;
  validatedAt: Date;
  queuedAt: Date;
}

const COLUMNS = `
e.id, e.source_id as "sourceId", s.name as "sourceName", e.status, e.routed, e.method, e.path, e.query, e.headers,
e.client_address as "clientAddress", e.traceparent,
e.payload_size as "payloadSize", e.payload_hash as "payloadHash", e.deliveries_count as "deliveriesCount",
e.deliveries_succeeded as "deliveriesSucceeded", e.deliveries_failed as "deliveriesFailed",
e.received_at as "receivedAt", e.validated_at as "validatedAt", e.queued_at as "queuedAt"`;

export interface EventFilter {
  sourceId?: string;
  status?: string;
  /** Whether a route accepted it. */
  routed?: boolean;
  /** Received at or after. */
  from?: Date;
  /** Received at or before. */
  to?: Date;
  /** A LIKE pattern that the payload's text must match, as it was received or without JSON escapes; letter case is ignored. */
  payloadPattern?: string;
}

/** How long payloads are searched for what follows a cursor, ms; and rows for other filters, so that an answer stays quick. */
const NEXT_PAYLOADS_MS = 2000;
export const NEXT_ROWS_MS = 25;

/** Filters of the list; a replay has no `routeId` and `destinationId`. */
export interface EventListFilter extends Omit<EventFilter, 'status'> {
  /** One of these. */
  status?: string[];
  /** It has a delivery of this route, to this destination, or both in one. */
  routeId?: string;
  destinationId?: string;
}

// `case` keeps bytes that are not text from payload_matches, in any order that the planner chooses.
/** The condition on a payload `p`. @param pattern an expression: a LIKE pattern; letter case is ignored */
const payloadMatches = (pattern: string): string =>
  `case when p.is_text then payload_matches(p.body, ${pattern}) else false end`;

/** Which events `e` a filter selects: `from` and `where`, with the parameters $1 to $7 of `matchingValues`. */
export const MATCHING = `
from events e join sources s on s.id = e.source_id
where e.organization_id = $1 and e.id >= $2 and e.id < $3
  and ($4::text is null or e.source_id = $4)
  and ($5::text is null or e.status = $5)
  and ($7::boolean is null or e.routed = $7)
  and ($6::text is null or exists (
    select from event_payloads p
    where p.event_id = e.id and p.event_id >= $2 and p.event_id < $3
      and ${payloadMatches('$6')}))`;

/** Whether its filters need more than rows of events. */
export const isEventSearch = ({ payloadPattern, routeId, destinationId }: EventListFilter): boolean =>
  [payloadPattern, routeId, destinationId].some((value) => value !== undefined);

/**
 * A part of an organization's events, newest first.
 * @throws SearchTooBroadError when a page takes too long to search for; PageTooDeepError
 */
export async function listEvents(pool: Pool, organizationId: string, filter: EventListFilter, part: Part) {
  const { payloadPattern } = filter;
  return inSnapshot(pool, async (db) => {
    const forMs = payloadPattern === undefined ? NEXT_ROWS_MS : NEXT_PAYLOADS_MS;
    const { ids, ...found } = await findPart(db, eventSelection(organizationId, filter), part, forMs);
    return { events: await eventsById(db, organizationId, ids), ...found };
  });
}

export function eventSelection(
  organizationId: string,
  { from, to, sourceId, status, routed, payloadPattern, routeId, destinationId }: EventListFilter,
): Selection {
  const isDelivered = routeId !== undefined || destinationId !== undefined;
  return {
    kind: 'event',
    organizationId,
    from,
    to,
    where: { source_id: sourceId, status, routed },
    ...(isDelivered && { delivered: { route_id: routeId, destination_id: destinationId } }),
    ...(payloadPattern !== undefined && {
      also: (query, range) => `exists (
        select from event_payloads p where p.event_id = r.id and ${madeIn(query, 'p.event_id', 'evt', range)}
          and ${payloadMatches(query.add(payloadPattern))})`,
    }),
  };
}

/** Events that exist, newest first. */
async function eventsById(db: Queryable, organizationId: string, ids: string[]): Promise<EventRecord[]> {
  const { low, high } = bounds(ids);
  const { rows } = await db.query<EventRecord>(
    `select ${COLUMNS} from events e join sources s on s.id = e.source_id
     where e.organization_id = $1 and e.id = any($2::text[]) and e.id between $3 and $4 order by e.id desc`,
    [organizationId, ids, low, high],
  );
  return rows;
}

/** The parameters of `MATCHING`; the range of ids is given as it is, with an upper bound that is not part of it. */
export function matchingValues(
  organizationId: string,
  range: [low: string, high: string],
  { sourceId, status, payloadPattern, routed }: EventFilter,
): unknown[] {
  return [organizationId, ...range, sourceId ?? null, status ?? null, payloadPattern ?? null, routed ?? null];
}

/** The ids made inside a time range, as a lower bound and an upper bound that is not part of it. */
export function idRange(prefix: 'evt' | 'dlv', { from, to }: { from?: Date; to?: Date }): [string, string] {
  return [
    from ? idFloor(prefix, from.getTime()) : `${prefix}_`,
    to ? idFloor(prefix, to.getTime() + 1) : `${prefix}_~`,
  ];
}

export async function findEvent(db: Queryable, organizationId: string, id: string): Promise<EventRecord | null> {
  const { rows } = await db.query<EventRecord>(
    `select ${COLUMNS} from events e join sources s on s.id = e.source_id where e.organization_id = $1 and e.id = $2`,
    [organizationId, id],
  );
  return rows[0] ?? null;
}

/** Those of the ids that are events of the organization. */
export async function existingEventIds(db: Queryable, organizationId: string, ids: string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select e.id from events e join sources s on s.id = e.source_id where e.organization_id = $1 and e.id = any($2::text[])`,
    [organizationId, ids],
  );
  return rows.map((row) => row.id);
}

/** The exact bytes of an event of this organization, with its content type. */
export async function loadContent(db: Queryable, organizationId: string, eventId: string): Promise<TypedBody | null> {
  const { rows } = await db.query<{ body: Buffer; contentType: string | null }>(
    `select p.body, e.headers ->> 'content-type' as "contentType"
     from events e join event_payloads p on p.event_id = e.id where e.id = $2 and e.organization_id = $1`,
    [organizationId, eventId],
  );
  const [row] = rows;
  return row === undefined ? null : { body: row.body, contentType: row.contentType ?? undefined };
}
