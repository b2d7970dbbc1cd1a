// Reads events. An event whose source was deleted is invisible from then on (every statement joins the source), while
// its rows are removed in the background. Statements bound the ids, so that PostgreSQL opens only the partitions of
// those days.
import type { TypedBody } from '../../core/forms/forms.ts';
import { idTime } from '../../core/text/ids.ts';
import { inSnapshot, type Pool, type Queryable } from '../connections/pool.ts';
import type { NewEvent } from '../hot-path/store-events.ts';
import { findPart } from './search.ts';
import type { Part } from '../sql/list-parts.ts';
import { madeIn, type Selection } from './selection.ts';
import { among, fragment, type Fragment, raw, sql } from '../connections/statements.ts';

type OfEvent = 'id' | 'sourceId' | 'method' | 'path' | 'query' | 'headers' | 'clientAddress' | 'payloadHash';

export interface EventRecord extends Pick<NewEvent, OfEvent | 'receivedAt' | 'validatedAt'> {
  sourceName: string;
  status: 'pending' | 'delivered' | 'partial' | 'failed';
  routed: boolean;
  /** Of the span that recorded it; null: none did. */
  traceparent: string | null;
  payloadSize: number;
  deliveriesCount: number;
  deliveriesSucceeded: number;
  deliveriesFailed: number;
  queuedAt: Date;
}

const COLUMNS = `
e.id, e.source_id, s.name as source_name, e.status, e.routed, e.method, e.path, e.query, e.headers, e.client_address,
e.traceparent, e.payload_size, e.payload_hash, e.deliveries_count, e.deliveries_succeeded, e.deliveries_failed,
e.received_at, e.validated_at, e.queued_at`;

export interface EventFilter {
  sourceId?: string;
  status?: string;
  routed?: boolean;
  /** Received at or after. */
  from?: Date;
  /** Received at or before. */
  to?: Date;
  /**
   * A LIKE pattern that the payload's text must match, as it was received or without JSON escapes; letter case is
   * ignored.
   */
  payloadPattern?: string;
}

/**
 * How long payloads are searched for what follows a cursor, ms; and rows for other filters, so that an answer stays
 * quick.
 */
const NEXT_PAYLOADS_MS = 2000;
export const NEXT_ROWS_MS = 25;

/** Filters of the list; a replay has no `routeId` and `destinationId`. */
export interface EventListFilter extends Omit<EventFilter, 'status'> {
  status?: string[];
  routeId?: string;
  destinationId?: string;
}

// `case` keeps bytes that are not text from payload_matches, in any order that the planner chooses.
/** The condition on a payload `p`. @param pattern a LIKE pattern; letter case is ignored */
const payloadMatches = (pattern: string): Fragment =>
  fragment`case when p.is_text then payload_matches(p.body, ${pattern}) else false end`;

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
      also: (range) => fragment`exists (
        select from event_payloads p where p.event_id = r.id and ${madeIn('p.event_id', 'evt', range)}
          and ${payloadMatches(payloadPattern)})`,
    }),
  };
}

function eventsById(db: Queryable, organizationId: string, ids: string[]): Promise<EventRecord[]> {
  return sql(db).rows<EventRecord>`
    select ${raw(COLUMNS)} from events e join sources s on s.id = e.source_id
    where e.organization_id = ${organizationId} and ${among('e.id', ids)} order by e.id desc`;
}

export async function findEvent(db: Queryable, organizationId: string, id: string): Promise<EventRecord | null> {
  return sql(db).find<EventRecord>`
    select ${raw(COLUMNS)} from events e join sources s on s.id = e.source_id
    where e.organization_id = ${organizationId} and e.id = ${id}`;
}

export async function existingEventIds(db: Queryable, organizationId: string, ids: string[]): Promise<string[]> {
  return sql(db).column`
    select e.id from events e join sources s on s.id = e.source_id where e.organization_id = ${organizationId}
    and e.id = any(${ids}::text[])`;
}

/** The exact bytes of an event of this organization, with its content type. */
export async function loadContent(db: Queryable, organizationId: string, eventId: string): Promise<TypedBody | null> {
  const row = await sql(db).first<{ body: Buffer; contentType: string | null }>`
    select p.body, e.headers ->> 'content-type' as content_type
    from events e join event_payloads p on p.event_id = e.id where e.id = ${eventId}
      and e.organization_id = ${organizationId}`;
  return row === undefined ? null : { body: row.body, contentType: row.contentType ?? undefined };
}

/** How much later than others an event may be stored and still be found, ms. Storing takes milliseconds. */
export const OVERLAP_MS = 5000;
const PAGE = 100;
const MOST_PAGES = 10;

export interface Arrived {
  events: EventRecord[];
  /** More arrived than one look reads: the oldest of it was left out. */
  isCut: boolean;
}

/**
 * Events in the order in which they arrive. Ids are in the order of receipt, but what is received first may be stored
 * second, so each look begins a little before the latest event that was seen.
 */
export class Arrivals {
  readonly #pool: Pool;
  readonly #organizationId: string;
  readonly #filter: Pick<EventFilter, 'sourceId' | 'routed'>;
  readonly #fromMs: number;
  #latestMs: number;
  readonly #seen = new Map<string, number>();

  /** @param fromMs what was received from then on, ms since 1970 */
  constructor(pool: Pool, organizationId: string, filter: Pick<EventFilter, 'sourceId' | 'routed'>, fromMs: number) {
    this.#pool = pool;
    this.#organizationId = organizationId;
    this.#filter = filter;
    this.#fromMs = fromMs;
    this.#latestMs = fromMs;
  }

  /** What arrived since the last look, at most 1,000 events. @throws while the database is away */
  async next(): Promise<Arrived> {
    const from = new Date(Math.max(this.#fromMs, this.#latestMs - OVERLAP_MS));
    const fresh: EventRecord[] = [];
    let after: string | null = null;
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const part = { limit: PAGE, after, withTotal: false };
      const { events, next } = await listEvents(this.#pool, this.#organizationId, { ...this.#filter, from }, part);
      fresh.push(...events.filter(({ id }) => !this.#seen.has(id)));
      after = next;
      if (after === null) break;
    }
    for (const { id } of fresh) this.#seen.set(id, idTime(id));
    this.#latestMs = Math.max(this.#latestMs, ...fresh.map(({ id }) => idTime(id)));
    for (const [id, ms] of this.#seen) if (ms < this.#latestMs - OVERLAP_MS) this.#seen.delete(id);
    return { events: fresh.toReversed(), isCut: after !== null };
  }
}
