// Reads a source with its routes for ingest, and what organizations may do. Secrets are returned encrypted, as stored.
import type { FilterLogic } from '../../core/filters/filter.ts';
import {
  type FilterText,
  filterText,
  type SchemaText,
  schemaText,
} from '../../core/filters/stored-schemas-and-filters.ts';
import type { Ordering } from '../../core/delivery/ordering.ts';
import type { IngestTokenRule } from '../../core/ingest/ingest-url.ts';
import type { PublicVerificationConfig } from '../../core/verification/config.ts';
import type { SourceAnswer } from '../../core/ingest/source-answer.ts';
import type { SourceHandshake } from '../../core/verification/handshakes.ts';
import type { IdempotencyKeyRule } from '../records/entities.ts';
import { firstRow, type Queryable } from '../connections/pool.ts';
import { transformVersion } from '../sql/rules.ts';
import { LRUCache } from 'lru-cache';
import type { Plan } from '../../core/config/plans-and-scopes.ts';
import { type LimitOverrides, type Limits, limitsOf } from '../../core/fairness/organization-limits.ts';

export interface RoutingRow {
  organizationId: string;
  configVersion: number;
  standing: StandingRow;
  sourceId: string;
  enabled: boolean;
  verification: PublicVerificationConfig;
  provider: string | null;
  secret: string | null;
  /** Encrypted. The one before, during a rotation. */
  previousSecret: string | null;
  /** When it ends, ms since 1970. */
  previousSecretUntil: number | null;
  idempotencyKey: IdempotencyKeyRule | null;
  ingestToken: IngestTokenRule;
  ingestTokenValue: string | null;
  previousTokenValue: string | null;
  previousTokenUntil: Date | null;
  /** Anyone who cannot prove who they are is answered as if there were no such source. */
  concealed: boolean;
  allowPaths: boolean;
  /** What an accepted webhook is answered; null: the default. */
  answer: SourceAnswer | null;
  handshake: SourceHandshake | null;
  handshakeToken: string | null;
  /** The enabled ones, in the order in which they run. Those with the same schema, or the same filter, share it. */
  routes: RouteRow[];
  size: number;
}

export interface RouteRow {
  id: string;
  version: number;
  /** Null: it has no transform. */
  transformVersion: number | null;
  priority: number;
  ordering: Ordering | null;
  schema: SchemaText | null;
  filter: FilterText | null;
  destinations: { id: string; enabled: boolean }[];
}

/**
 * A row for the routes, and one for each of their schemas and filters: what is read of the answer in one turn is small.
 */
type PartRow = Omit<RoutingRow, 'routes' | 'size'> & { json: string } & (
    | { part: 'routes' }
    | { part: 'schema'; partId: string; name: string; version: number }
    | { part: 'filter'; partId: string; logic: FilterLogic }
  );
type NamingRoute = Omit<RouteRow, 'schema' | 'filter'> & { schemaId: string | null; filterId: string | null };

// One statement, one snapshot: the version belongs to exactly this configuration.
const LOAD = `
select o.id as "organizationId", o.config_version as "configVersion",
       json_build_object('plan', o.plan, 'limits', o.limits, 'suspended', o.suspended_at is not null) as standing,
       s.id as "sourceId", s.enabled, s.verification, s.provider, s.answer, s.handshake,
       s.handshake_token as "handshakeToken", s.verification_secret as secret,
       s.previous_verification_secret as "previousSecret",
       extract(epoch from s.previous_secret_until)::float8 * 1000 as "previousSecretUntil",
       s.idempotency_key as "idempotencyKey", s.ingest_token as "ingestToken",
       s.ingest_token_value as "ingestTokenValue", s.previous_token_value as "previousTokenValue",
       s.previous_token_until as "previousTokenUntil", s.concealed, s.allow_paths as "allowPaths",
       p.part, p.id as "partId", p.name, p.version, p.logic, p.json
from organizations o join sources s on s.organization_id = o.id and o.deleted_at is null
cross join lateral (
  select 'routes' as part, null as id, null as name, null::integer as version, null as logic, coalesce((
    select json_agg(json_build_object('id', r.id, 'version', r.version, 'transformVersion', ${transformVersion('r')},
      'priority', r.priority, 'ordering', r.ordering, 'schemaId', r.schema_id, 'filterId', coalesce(
      r.filter_id, case when r.filter_conditions is not null then r.id end
    ), 'destinations', (
      select coalesce(json_agg(json_build_object('id', d.id, 'enabled', d.enabled) order by u.position), '[]')
      from unnest(r.destination_ids) with ordinality as u(id, position) join destinations d on d.id = u.id
    )) order by r.priority desc, r.id)
    from routes r where r.source_id = s.id and r.enabled
  ), '[]')::text as json
  union all
  select 'schema', c.id, c.name, c.version, null, c.schema::text from schemas c
  where c.id in (select r.schema_id from routes r where r.source_id = s.id and r.enabled)
  union all
  select 'filter', f.id, null, null, f.logic, f.conditions::text from filters f
  where f.id in (select r.filter_id from routes r where r.source_id = s.id and r.enabled)
  union all
  select 'filter', r.id, null, null, r.filter_logic, r.filter_conditions::text from routes r
  where r.source_id = s.id and r.enabled and r.filter_id is null and r.filter_conditions is not null
) p
where o.slug = $1 and s.slug = $2`;

/** Null when there is no such source. */
export async function loadRouting(
  db: Queryable,
  organizationSlug: string,
  sourceSlug: string,
): Promise<RoutingRow | null> {
  const { rows } = await db.query<PartRow>({
    name: 'load-routing',
    text: LOAD,
    values: [organizationSlug, sourceSlug],
  });
  const [first] = rows;
  return first === undefined ? null : { ...first, routes: routesOf(rows), size: sizeOf(rows) };
}

function routesOf(rows: readonly PartRow[]): RouteRow[] {
  const routes: NamingRoute[] = [];
  const [schemas, filters] = [new Map<string, SchemaText>(), new Map<string, FilterText>()];
  for (const row of rows) {
    if (row.part === 'routes') routes.push(...(JSON.parse(row.json) as NamingRoute[]));
    else if (row.part === 'schema') schemas.set(row.partId, schemaText({ ...row, id: row.partId }));
    else filters.set(row.partId, filterText({ ...row, id: row.partId }));
  }
  return routes.map(({ schemaId, filterId, ...route }) => ({
    ...route,
    schema: (schemaId === null ? null : schemas.get(schemaId)) ?? null,
    filter: (filterId === null ? null : filters.get(filterId)) ?? null,
  }));
}

const sizeOf = (rows: readonly PartRow[]): number => rows.reduce((sum, { json }) => sum + json.length, 0);

/** The version of an organization's configuration now; undefined when it was deleted. */
export async function configVersion(db: Queryable, organizationId: string): Promise<number | undefined> {
  const text = 'select config_version as version from organizations where id = $1';
  const row = await firstRow<{ version: number }>(db, { name: 'config-version', text, values: [organizationId] });
  return row?.version;
}

export interface Standing {
  limits: Limits;
  suspended: boolean;
}

export interface StandingRow {
  plan: Plan;
  limits: LimitOverrides;
  suspended: boolean;
}

// A change is in force after this time at the latest, in every process.
const MAX_AGE_MS = 5000;
const MAX_CACHED = 10_000;

export function standingOf({ plan, limits, suspended }: StandingRow): Standing {
  return { limits: limitsOf(plan, limits), suspended };
}

/** Null when the organization was deleted. */
async function loadStanding(db: Queryable, organizationId: string): Promise<Standing | null> {
  const text = 'select plan, limits, suspended_at is not null as suspended from organizations where id = $1';
  const row = await firstRow<StandingRow>(db, { name: 'load-standing', text, values: [organizationId] });
  return row ? standingOf(row) : null;
}

export type Standings = (organizationId: string) => Promise<Standing | null>;

/**
 * Looks organizations up, each at most every five seconds; concurrent look-ups share a query.
 * Failure policy: a failed query is thrown and not kept.
 */
export function createStandings(db: Queryable): Standings {
  const cached = new LRUCache<string, Promise<Standing | null>>({ max: MAX_CACHED, ttl: MAX_AGE_MS });
  return (organizationId) => {
    const known = cached.get(organizationId);
    if (known) return known;
    const loaded = loadStanding(db, organizationId);
    cached.set(organizationId, loaded);
    loaded.catch(() => cached.delete(organizationId));
    return loaded;
  };
}

/** The `transformMsPerMinute` of organizations; of one that was deleted meanwhile there is nothing to run any more. */
export function transformBudgets(standings: Standings): (organizationId: string) => Promise<number> {
  return async (organizationId) => (await standings(organizationId))?.limits.transformMsPerMinute ?? 0;
}
