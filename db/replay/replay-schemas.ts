// Replays are validated by the current schemas: after a schema is fixed, a replay delivers the events that it refused. Filters
// are not applied again, because the replay was requested explicitly.
import type { TypedBody } from '../../core/forms/index.ts';
import type { StoredSchema } from '../../core/schemas/cached.ts';
import { describeErrors, type SchemaError } from '../../core/schemas/errors.ts';
import { loadContent } from '../history/events.ts';
import type { Queryable } from '../connections/pool.ts';
import { currentRoutes, routeKey, type RouteVersion } from '../hot-path/attempt-config.ts';

/** The target of a replay. */
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
  Promise.reject(new Error('a route has a schema, and nothing was given to validate payloads with'));

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
const NO_SCHEMA = 'The route was deleted, and so was the schema that it had';

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
  const { rows } = await db.query<StoredSchema>(
    'select id, name, version, schema from schemas where organization_id = $1 and id = any($2::text[])',
    [organizationId, named.map(({ schemaId }) => schemaId)],
  );
  const schemas = new Map(rows.map((schema) => [schema.id, schema]));
  return new Map(named.map(({ key, schemaId }) => [key, schemas.get(schemaId) ?? null]));
}
