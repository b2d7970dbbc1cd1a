// Reads a source and its routes for ingest. Secrets are returned encrypted, as stored.
import type { FilterCondition } from '../../core/filters/conditions.ts';
import type { FilterLogic } from '../../core/filters/filter.ts';
import type { IngestTokenRule } from '../../core/ingest-token.ts';
import type { StoredSchema } from '../../core/schemas/cached.ts';
import type { PublicVerificationConfig } from '../../core/signatures/index.ts';
import type { SourceAnswer } from '../../core/source-answer.ts';
import type { IdempotencyKeyRule } from '../entities.ts';
import type { StandingRow } from '../organizations/standing.ts';
import type { Queryable } from '../connections/pool.ts';

export interface RoutingRow {
  organizationId: string;
  /** Of the organization: every change of its configuration raises it. */
  configVersion: number;
  standing: StandingRow;
  sourceId: string;
  enabled: boolean;
  verification: PublicVerificationConfig;
  provider: string | null;
  /** Encrypted. */
  secret: string | null;
  /** Encrypted. The one before, during a rotation. */
  previousSecret: string | null;
  /** When it ends, ms since 1970. */
  previousSecretUntil: number | null;
  idempotencyKey: IdempotencyKeyRule | null;
  ingestToken: IngestTokenRule;
  /** Encrypted. */
  ingestTokenValue: string | null;
  previousTokenValue: string | null;
  previousTokenUntil: Date | null;
  concealed: boolean;
  allowPaths: boolean;
  answer: SourceAnswer | null;
  /** The enabled ones, in the order in which they run. */
  routes: RouteRow[];
}

export interface RouteRow {
  id: string;
  priority: number;
  schema: StoredSchema | null;
  filter: { conditions: FilterCondition[]; logic: FilterLogic } | null;
  destinations: { id: string; enabled: boolean }[];
}

// One statement, one snapshot: the version belongs to exactly this configuration.
const LOAD = `
select o.id as "organizationId", o.config_version as "configVersion",
       json_build_object('plan', o.plan, 'limits', o.limits, 'suspended', o.suspended_at is not null) as standing, s.id as "sourceId", s.enabled, s.verification, s.provider, s.answer,
       s.verification_secret as secret, s.previous_verification_secret as "previousSecret",
       extract(epoch from s.previous_secret_until)::float8 * 1000 as "previousSecretUntil", s.idempotency_key as "idempotencyKey",
       s.ingest_token as "ingestToken", s.ingest_token_value as "ingestTokenValue", s.previous_token_value as "previousTokenValue",
       s.previous_token_until as "previousTokenUntil", s.concealed, s.allow_paths as "allowPaths",
       coalesce((
         select json_agg(json_build_object('id', r.id, 'priority', r.priority, 'schema', (
           select json_build_object('id', c.id, 'name', c.name, 'version', c.version, 'schema', c.schema)
           from schemas c where c.id = r.schema_id
         ), 'filter', coalesce((
           select json_build_object('conditions', f.conditions, 'logic', f.logic) from filters f where f.id = r.filter_id
         ), case when r.filter_conditions is not null then
           json_build_object('conditions', r.filter_conditions, 'logic', r.filter_logic)
         end), 'destinations', (
           select coalesce(json_agg(json_build_object('id', d.id, 'enabled', d.enabled) order by u.position), '[]')
           from unnest(r.destination_ids) with ordinality as u(id, position) join destinations d on d.id = u.id
         )) order by r.priority desc, r.id)
         from routes r where r.source_id = s.id and r.enabled
       ), '[]') as routes
from organizations o join sources s on s.organization_id = o.id and o.deleted_at is null
where o.slug = $1 and s.slug = $2`;

/** Null when there is no such source. */
export async function loadRouting(
  db: Queryable,
  organizationSlug: string,
  sourceSlug: string,
): Promise<RoutingRow | null> {
  const { rows } = await db.query<RoutingRow>({
    name: 'load-routing',
    text: LOAD,
    values: [organizationSlug, sourceSlug],
  });
  return rows[0] ?? null;
}

/** The version of an organization's configuration now; undefined when it was deleted. */
export async function configVersion(db: Queryable, organizationId: string): Promise<number | undefined> {
  const { rows } = await db.query<{ version: number }>({
    name: 'config-version',
    text: 'select config_version as version from organizations where id = $1',
    values: [organizationId],
  });
  return rows[0]?.version;
}
