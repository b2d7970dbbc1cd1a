// Where replays of events lead: the deliveries that may be made of them, and what each of these replaces. Everything
// that replays asks here.
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { chainOf, firstDeliveryOf, JOIN_LISTS, OPEN, READ_IN_ORDER, transformVersion } from '../sql/rules.ts';
import { bounds, among, type Fragment, fragment, raw, sql } from '../connections/statements.ts';
import type { TypedBody } from '../../core/forms/forms.ts';
import { describeErrors, type SchemaError, type StoredSchema } from '../../core/schemas/schema.ts';
import { loadContent } from '../history/events.ts';
import type { AttemptContext } from '../hot-path/load-attempts.ts';
import { currentRoutes, routeKey, type RouteVersion } from '../hot-path/attempt-config.ts';

export interface ReplayRequest {
  organizationId: string;
  eventIds: string[];
  /** Only to these; default: wherever the routes of the source currently send the event. */
  destinationIds?: string[];
  deliveriesPerEvent?: number;
}

export interface Target
  extends Pick<AttemptContext, 'eventId' | 'sourceId' | 'routeId' | 'destinationId' | 'transformVersion'> {
  /** Of the route as it is now; of a deleted one, of the delivery that is repeated. */
  routeVersion: number | null;
  priority: number;
  enabled: boolean;
  /** The end of its chain (`chains`); null: there is none yet. */
  replayOf: string | null;
  replaces: string[];
  /** Whether its chain has an open delivery: nothing is replayed then. */
  isOpen: boolean;
  /** Of a delivery to a failover destination (`failoverColumns`); else null. */
  failoverOf: string | null;
  originalDestinationId: string | null;
  failoverReason: string | null;
  /** Of a route with ordering: the ordering key of what is repeated; else null. */
  orderHash: Buffer | null;
  orderKey: string | null;
}

/**
 * What repeats a delivery to a failover destination is one too: its request says so, and it is outside of the circuit
 * of its route. Not when that route leads to the destination by now.
 * @param delivery the alias of what is repeated
 * @param route the alias of its route, if it is there
 */
const failoverColumns = (delivery: string, route: string): string => {
  const unlessPrimary = (column: string) =>
    `case when ${delivery}.destination_id = any(${route}.destination_ids) then null else ${delivery}.${column} end`;
  return `${unlessPrimary('failover_of')} as "failoverOf",
    ${unlessPrimary('original_destination_id')} as "originalDestinationId",
  ${unlessPrimary('failover_reason')} as "failoverReason"`;
};

/**
 * Deliveries of an event that a replay of it looks at. An older one is not replaced, and counts in its event beside the
 * new one; unless it is the one that is to be delivered again.
 */
export const EARLIER_READ = 10_000;

/** The ordering key of a delivery that repeats one, as long as its route orders deliveries. */
const orderColumns = (delivery: string, route: string): string =>
  `case when ${route}.ordering is not null then ${delivery}.order_hash end as "orderHash",
  case when ${route}.ordering is not null then ${delivery}.order_key end as "orderKey"`;

/** By which version of its route a delivery is made that repeats one, and of the transform (`Target`). */
const versionColumns = (delivery: string, route: string): string =>
  `coalesce(${route}.version, ${delivery}.route_version) as "routeVersion",
  case when ${route}.id is null then ${delivery}.transform_version
    else ${transformVersion(route)} end as "transformVersion"`;

/**
 * CTEs `earlier`, the deliveries of events, and `chains`, one row for each event, route and destination: a delivery,
 * those that took over from it, and the replays of all of these. `end_id` is the one that a replay replaces: the latest
 * that counts, or of those that never did. `last_id` is the latest that was not skipped: all before it are replaced. An
 * event may have been replayed many times, so its deliveries are read once, and only the newest ones.
 */
export const chains = (of: { organizationId: string; eventIds: string[]; firstDelivery: string }): Fragment =>
  fragment`earlier as materialized (
    select x.event_id, x.route_id, x.route_version, x.transform_version, x.destination_id, x.id, x.priority, x.status,
           x.counted, x.replay_of, x.order_hash, x.order_key, ${raw(chainOf('x', 'xr'))} as chain,
           ${raw(failoverColumns('x', 'xr'))}
    from unnest(${of.eventIds}::text[]) as w(id)
    cross join lateral (
      select * from deliveries where event_id = w.id and id >= ${of.firstDelivery}
      order by id desc limit ${raw(EARLIER_READ)}
    ) x
    left join routes xr on xr.id = x.route_id and xr.organization_id = ${of.organizationId}
  ), chains as materialized (
    select event_id, route_id, chain, (array_agg(id order by counted desc, id desc))[1] as end_id,
      coalesce(array_agg(id) filter (where counted), '{}') as counted_ids, bool_or(status in ${raw(OPEN)}) as open,
      max(id) filter (where status <> 'skipped') as last_id,
      max(id) filter (where status <> 'skipped' and replay_of is not null) as last_replay_id
    from earlier group by event_id, route_id, chain
  )`;

/** The targets, in the order of their events, up to the first event that has too many. */
export async function findTargets(
  pool: Pool,
  request: ReplayRequest,
): Promise<{ targets: Target[]; crowded: string | null }> {
  const { organizationId, eventIds, destinationIds, deliveriesPerEvent: most = Number.POSITIVE_INFINITY } = request;
  if (eventIds.length === 0) return { targets: [], crowded: null };
  const firstDelivery = firstDeliveryOf(bounds(eventIds).low);
  // One more than all events may have together: whatever the routes are, the first event that has too many is among the
  // rows.
  const all = most * eventIds.length + 1;
  // Targets of an event: the currently enabled routes of its source, and for requested destinations also the routes it
  // took before. Every table is bounded by the organization: lists are joined by hash, and would else be joined with
  // those of all.
  const rows = await inTransaction(pool, async (db) => {
    await sql(db).run`select ${raw(JOIN_LISTS)}, ${raw(READ_IN_ORDER)}`;
    return sql(db).rows<Target>`
      with wanted as materialized (
        select e.id, e.source_id from events e
        join sources s on s.id = e.source_id and s.organization_id = ${organizationId}
        where e.organization_id = ${organizationId} and ${among('e.id', eventIds)}
      ), ${chains({ organizationId, eventIds, firstDelivery })}, latest as (
        select distinct on (event_id, destination_id, route_id, chain) * from earlier
        order by event_id, destination_id, route_id, chain, id desc
      ), candidate as (
        select w.id as event_id, w.source_id, r.id as route_id, d.destination_id, r.priority,
          null as "failoverOf", null as "originalDestinationId", null as "failoverReason"
        from wanted w
        join routes r on r.source_id = w.source_id and r.organization_id = ${organizationId} and r.enabled
        cross join lateral unnest(r.destination_ids) as d(destination_id)
        union
        select w.id, w.source_id, x.route_id, x.destination_id, x.priority, x."failoverOf", x."originalDestinationId",
               x."failoverReason"
        from wanted w join latest x on x.event_id = w.id
        where ${destinationIds}::text[] is not null and x.destination_id = any(${destinationIds}::text[])
          and not exists (
            select from routes r where r.source_id = w.source_id and r.organization_id = ${organizationId}
              and r.enabled and r.destination_ids @> array[x.destination_id])
      )
      select c.event_id as "eventId", c.source_id as "sourceId", c.route_id as "routeId",
        c.destination_id as "destinationId", c.priority, t.enabled, c."failoverOf", c."originalDestinationId",
        c."failoverReason", h.end_id as "replayOf", coalesce(h.counted_ids, '{}') as replaces,
        coalesce(h.open, false) as "isOpen", ${raw(versionColumns('x', 'cr'))}, ${raw(orderColumns('x', 'cr'))}
      from candidate c
      join destinations t on t.id = c.destination_id and t.organization_id = ${organizationId}
      left join chains h on h.event_id = c.event_id and h.route_id is not distinct from c.route_id
        and h.chain = coalesce(c."originalDestinationId", c.destination_id)
      left join latest x on x.event_id = c.event_id and x.destination_id = c.destination_id
        and x.route_id is not distinct from c.route_id
        and x.chain = coalesce(c."originalDestinationId", c.destination_id)
      left join routes cr on cr.id = c.route_id and cr.organization_id = ${organizationId}
      where ${destinationIds}::text[] is null or c.destination_id = any(${destinationIds}::text[])
      order by c.event_id, c.destination_id, c.route_id limit ${Number.isFinite(all) ? all : null}`;
  });
  // The last of an event that has too many.
  const crowded = rows.find(({ eventId }, at) => at >= most && rows[at - most]?.eventId === eventId)?.eventId ?? null;
  return { targets: crowded === null ? rows : rows.filter(({ eventId }) => eventId < crowded), crowded };
}

export interface TargetAgain extends Target {
  deliveryId: string;
  status: string;
  /** The latest of its chain that replaces it. */
  replacedBy: string | null;
  /** The same, if it is a replay and not only a failover. */
  replayedBy: string | null;
}

/** One is missing that was replaced too long ago (`EARLIER_READ`). */
export async function targetsAgain(pool: Pool, organizationId: string, deliveryIds: string[]): Promise<TargetAgain[]> {
  const ofThese = fragment`d.organization_id = ${organizationId} and ${among('d.id', deliveryIds)}`;
  return inTransaction(pool, async (db) => {
    const eventIds = await sql(db).column`
      select event_id, ${raw(READ_IN_ORDER)} from deliveries d where ${ofThese} group by event_id`;
    if (eventIds.length === 0) return [];
    const firstDelivery = firstDeliveryOf(bounds(eventIds).low);
    // Of a chain that is older than all deliveries that are read, the one that counts is the end.
    return sql(db).rows<TargetAgain>`
      with wanted as materialized (
        select d.* from deliveries d where ${ofThese}
      ), ${chains({ organizationId, eventIds, firstDelivery })}
      select d.id as "deliveryId", d.status, d.event_id as "eventId", d.source_id as "sourceId",
        d.route_id as "routeId", d.destination_id as "destinationId", d.priority, t.enabled,
        ${raw(failoverColumns('d', 'r'))}, ${raw(versionColumns('d', 'r'))}, ${raw(orderColumns('d', 'r'))},
        coalesce(h.end_id, d.id) as "replayOf", coalesce(h.counted_ids, array[d.id]) as replaces,
        coalesce(h.open, d.status in ${raw(OPEN)}) as "isOpen",
        case when h.last_id > d.id then h.last_id end as "replacedBy",
        case when h.last_replay_id > d.id then h.last_replay_id end as "replayedBy"
      from wanted d join destinations t on t.id = d.destination_id and t.organization_id = ${organizationId}
      join sources s on s.id = d.source_id and s.organization_id = ${organizationId}
      left join routes r on r.id = d.route_id and r.organization_id = ${organizationId}
      left join chains h on h.event_id = d.event_id and h.route_id is not distinct from d.route_id
        and h.chain = ${raw(chainOf('d', 'r'))}
      where h.event_id is not null or d.counted
      order by d.id desc`;
  });
}

// Replays are validated by the current schemas: after a schema is fixed, a replay delivers the events that it refused.
// Filters are not applied again, because the replay was requested explicitly.

interface RoutedEvent extends RouteVersion {
  eventId: string;
}

/** Validates a payload by each schema, in their order; in a thread, because it may take long. */
export type ValidatePayload = (
  organizationId: string,
  schemas: readonly StoredSchema[],
  content: TypedBody,
) => Promise<SchemaError[][]>;

/** For callers whose routes have no schemas. */
export const cannotValidate: ValidatePayload = () =>
  Promise.reject(new Error('a route has a schema, but no validator was provided'));

/** Why an event may not be sent by a route, or null. */
export type MismatchOf = (target: RoutedEvent) => string | null;

/**
 * Validates events by the schemas of the routes that send them; costs only one lookup when no route has one.
 * @throws a database error
 */
export async function findMismatches(
  db: Queryable,
  organizationId: string,
  targets: RoutedEvent[],
  validate: ValidatePayload,
): Promise<MismatchOf> {
  const schemas = await schemasOfRoutes(db, organizationId, targets);
  if (schemas.size === 0) return () => null;
  const mismatches = new Map<string, string>();
  const eventIds = new Set(targets.filter((target) => schemas.get(routeKey(target))).map(({ eventId }) => eventId));
  // One payload at a time: together they may be a gigabyte.
  for (const eventId of eventIds) {
    const content = await loadContent(db, organizationId, eventId);
    if (content === null) continue;
    const checked = targets.flatMap((target) => {
      const schema = schemas.get(routeKey(target));
      return target.eventId === eventId && schema ? [{ target, schema }] : [];
    });
    const used = [...new Map(checked.map(({ schema }) => [schema.id, schema])).values()];
    const errors = await validate(organizationId, used, content);
    const errorsOf = new Map(used.map(({ id }, index) => [id, errors[index] ?? []]));
    for (const { target, schema } of checked) {
      const found = errorsOf.get(schema.id) ?? [];
      if (found.length > 0) mismatches.set(keyOf(target), describeErrors(schema, found));
    }
  }
  return (target) => (schemas.get(routeKey(target)) === null ? NO_SCHEMA : (mismatches.get(keyOf(target)) ?? null));
}

// What it would let through is not known.
const NO_SCHEMA = 'The route and its schema were deleted';

const keyOf = (target: RoutedEvent): string => `${target.eventId} ${routeKey(target)}`;

/** By `routeKey`; null: the schema does not exist any more. */
async function schemasOfRoutes(
  db: Queryable,
  organizationId: string,
  targets: RoutedEvent[],
): Promise<Map<string, StoredSchema | null>> {
  const routes = [...(await currentRoutes(db, organizationId, targets))];
  const named = routes.flatMap(([key, { schemaId }]) => (schemaId === null ? [] : [{ key, schemaId }]));
  if (named.length === 0) return new Map();
  const rows = await sql(db).rows<StoredSchema>`
    select id, name, version, schema from schemas where organization_id = ${organizationId}
      and id = any(${named.map(({ schemaId }) => schemaId)}::text[])`;
  const schemas = new Map(rows.map((schema) => [schema.id, schema]));
  return new Map(named.map(({ key, schemaId }) => [key, schemas.get(schemaId) ?? null]));
}
