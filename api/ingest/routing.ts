// What an ingest request needs to know of a source, cached in the process. A cached copy is used to accept only in the
// statement that checks its version (db/hot-path/store-events.ts), and to refuse only after its version was looked up.

import type { FilterCondition } from '../../core/filters/conditions.ts';
import type { FilterLogic } from '../../core/filters/filter.ts';
import type { StoredSchema } from '../../core/schemas/cached.ts';
import type { PublicVerificationConfig, VerificationConfig } from '../../core/signatures/index.ts';
import type { SecretBox } from '../../db/encryption.ts';
import type { IdempotencyKeyRule } from '../../db/entities.ts';
import type { Pool } from '../../db/pool.ts';
import { compileGate, type RouteGate } from './gate.ts';

export interface RoutedDestination {
  id: string;
  enabled: boolean;
}

export interface RoutedRoute {
  id: string;
  priority: number;
  /** Its schema and filter; null when it has neither and takes every event. */
  gate: RouteGate | null;
  destinations: RoutedDestination[];
}

/** A source with its enabled routes, in the order in which they run. */
export interface SourceRouting {
  organizationId: string;
  configVersion: number;
  sourceId: string;
  enabled: boolean;
  verification: VerificationConfig;
  idempotencyKey: IdempotencyKeyRule | null;
  routes: RoutedRoute[];
}

interface Row {
  organizationId: string;
  configVersion: number;
  sourceId: string;
  enabled: boolean;
  verification: PublicVerificationConfig;
  secret: string | null;
  idempotencyKey: IdempotencyKeyRule | null;
  routes: RouteRow[];
}

/** A route as loaded. */
interface RouteRow extends Omit<RoutedRoute, 'gate'> {
  schema: StoredSchema | null;
  filter: { conditions: FilterCondition[]; logic: FilterLogic } | null;
}

// One statement, one snapshot: the version belongs to exactly this configuration.
const LOAD = `
select o.id as "organizationId", o.config_version as "configVersion", s.id as "sourceId", s.enabled, s.verification,
       s.verification_secret as secret, s.idempotency_key as "idempotencyKey",
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
from organizations o join sources s on s.organization_id = o.id
where o.slug = $1 and s.slug = $2`;

const MAX_CACHED = 10_000;

export interface RoutingCache {
  /** The source as last loaded, or loaded now; null when there is none. May be out of date. */
  get(organizationSlug: string, sourceSlug: string): Promise<SourceRouting | null>;
  /** The source as of now: the cached copy when its version is still current, else loaded again. */
  getCurrent(organizationSlug: string, sourceSlug: string): Promise<SourceRouting | null>;
  /** Forgets a copy that turned out to be out of date. */
  forget(organizationSlug: string, sourceSlug: string): void;
}

/** Makes the cache; concurrent loads of one source share a query. */
export function createRoutingCache(pool: Pool, secretBox: SecretBox): RoutingCache {
  const cached = new Map<string, SourceRouting>();
  const loading = new Map<string, Promise<SourceRouting | null>>();

  async function load(organizationSlug: string, sourceSlug: string): Promise<SourceRouting | null> {
    const { rows } = await pool.query<Row>({
      name: 'load-routing',
      text: LOAD,
      values: [organizationSlug, sourceSlug],
    });
    const key = `${organizationSlug}/${sourceSlug}`;
    const row = rows[0];
    cached.delete(key);
    if (!row) return null;
    const routing = toRouting(row, secretBox);
    if (cached.size >= MAX_CACHED) cached.delete(cached.keys().next().value ?? '');
    cached.set(key, routing);
    return routing;
  }

  function loadOnce(organizationSlug: string, sourceSlug: string): Promise<SourceRouting | null> {
    const key = `${organizationSlug}/${sourceSlug}`;
    const running = loading.get(key);
    if (running !== undefined) return running;
    const started = load(organizationSlug, sourceSlug).finally(() => loading.delete(key));
    loading.set(key, started);
    return started;
  }

  return {
    async get(organizationSlug, sourceSlug) {
      return cached.get(`${organizationSlug}/${sourceSlug}`) ?? loadOnce(organizationSlug, sourceSlug);
    },
    async getCurrent(organizationSlug, sourceSlug) {
      const known = cached.get(`${organizationSlug}/${sourceSlug}`);
      if (!known) return load(organizationSlug, sourceSlug);
      const { rows } = await pool.query<{ version: number }>({
        name: 'config-version',
        text: 'select config_version as version from organizations where id = $1',
        values: [known.organizationId],
      });
      return rows[0]?.version === known.configVersion ? known : load(organizationSlug, sourceSlug);
    },
    forget(organizationSlug, sourceSlug) {
      cached.delete(`${organizationSlug}/${sourceSlug}`);
    },
  };
}

function toRouting(row: Row, secretBox: SecretBox): SourceRouting {
  const secret = row.secret === null ? undefined : secretBox.decrypt(row.secret, row.sourceId);
  return {
    organizationId: row.organizationId,
    configVersion: row.configVersion,
    sourceId: row.sourceId,
    enabled: row.enabled,
    verification: { ...row.verification, ...(secret !== undefined && { secret }) } as VerificationConfig,
    idempotencyKey: row.idempotencyKey,
    routes: row.routes.map(({ schema, filter, ...route }) => ({ ...route, gate: compileGate(schema, filter) })),
  };
}
