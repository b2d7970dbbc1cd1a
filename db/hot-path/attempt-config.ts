// Reads destinations, routes and transforms for attempts. Credentials are returned encrypted, as stored; `openSecrets`
// decrypts them.
import type { AuthType } from '../../core/delivery/auth-config.ts';
import type { ExpectedResponse, FailoverRule } from '../../core/delivery/verdict.ts';
import type { Ordering } from '../../core/delivery/ordering.ts';
import type { ForwardHeaders } from '../../core/ingest/forwarded-headers.ts';
import type { TransformType } from '../../core/config/transform-types.ts';
import type { SecretBox } from '../encryption/secret-box.ts';
import { firstRow, type Queryable } from '../connections/pool.ts';
import { sql } from '../connections/statements.ts';

export interface DestinationRow {
  id: string;
  version: number;
  enabled: boolean;
  method: string;
  url: string;
  headers: Record<string, string>;
  forwardHeaders: ForwardHeaders;
  forwardQuery: boolean;
  forwardPath: boolean;
  authType: AuthType;
  authConfig: string | null;
  signingSecret: string | null;
  /** Encrypted. The one before, during a rotation. */
  previousSigningSecret: string | null;
  /** When it ends, ms since 1970. */
  previousSigningSecretUntil: number | null;
  timeoutMs: number;
  /** Null: unlimited. */
  rateLimitPerMinute: number | null;
  /** Most attempts at a time, all workers together; null: as many as it copes with. */
  maxConcurrency: number | null;
}

/** A destination with its credentials in clear: never logged, never in a history. */
export interface OpenDestination extends Omit<DestinationRow, 'authConfig'> {
  authConfig: Record<string, string> | null;
}

export interface RouteConfig extends FailoverRule {
  id: string;
  version: number;
  transformId: string | null;
  schemaId: string | null;
  expectedResponse: ExpectedResponse | null;
  circuitFailureThreshold: number;
  /** Null: its deliveries are in no order. */
  ordering: Ordering | null;
  allowOwnAddress: boolean;
}

export interface TransformConfig {
  id: string;
  version: number;
  name: string;
  type: TransformType;
  code: string;
  outputContentType: string | null;
}

const DESTINATION = `
select id, version, enabled, method, url, headers, forward_headers as "forwardHeaders",
       forward_query as "forwardQuery", forward_path as "forwardPath", auth_type as "authType",
       auth_config as "authConfig", signing_secret as "signingSecret",
       previous_signing_secret as "previousSigningSecret",
       extract(epoch from previous_signing_secret_until)::float8 * 1000 as "previousSigningSecretUntil",
       timeout_ms as "timeoutMs",
       rate_limit_per_minute as "rateLimitPerMinute", max_concurrency as "maxConcurrency"
from destinations where organization_id = $1 and id = $2`;

/** Null when the organization has no such destination (any more). */
export async function loadDestination(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<DestinationRow | null> {
  const statement = { name: 'destination-config', text: DESTINATION, values: [organizationId, id] };
  return (await firstRow<DestinationRow>(db, statement)) ?? null;
}

export function openSecrets(row: DestinationRow, secretBox: SecretBox): OpenDestination {
  const open = (sealed: string | null) => (sealed === null ? null : secretBox.decrypt(sealed, row.id));
  return {
    ...row,
    authConfig: row.authConfig === null ? null : JSON.parse(secretBox.decrypt(row.authConfig, row.id)),
    signingSecret: open(row.signingSecret),
    previousSigningSecret: open(row.previousSigningSecret),
  };
}

/**
 * Finds a version of a record; with null the current one. A version never changes: it is that of the record as it is
 * now, or an earlier one (earlier_versions). Null when it is not kept any more.
 */
function loaderOf<Config>(table: 'routes' | 'transforms', name: string) {
  const text = `
select delivery_config(r) as config from ${table} r where organization_id = $1 and id = $2
  and ($3::int is null or version = $3)
union all
select config from earlier_versions where organization_id = $1 and record_id = $2 and version = $3
limit 1`;
  return async (db: Queryable, organizationId: string, id: string, version: number | null): Promise<Config | null> => {
    const row = await firstRow<{ config: Config }>(db, { name, text, values: [organizationId, id, version] });
    return row?.config ?? null;
  };
}

export const loadRoute = loaderOf<RouteConfig>('routes', 'route-config');
export const loadTransform = loaderOf<TransformConfig>('transforms', 'transform-config');

export type EarlierTarget = Pick<DestinationRow, 'method' | 'url' | 'forwardPath' | 'forwardQuery'>;

/** Where a destination sent to before it was changed; null when that is not kept any more. */
export async function loadEarlierTarget(
  db: Queryable,
  [organizationId, id, version]: [organizationId: string, id: string, version: number],
): Promise<EarlierTarget | null> {
  const [config = null] = await sql(db).column<EarlierTarget>`
    select config from earlier_versions
    where organization_id = ${organizationId} and record_id = ${id} and version = ${version}`;
  return config;
}

export interface RouteVersion {
  routeId: string | null;
  routeVersion: number | null;
}

export const routeKey = ({ routeId, routeVersion }: RouteVersion): string => `${routeId} ${routeVersion}`;

/**
 * Routes as they are now, a deleted one as it was in that version; by `routeKey`. One is missing that was deleted and
 * is not kept.
 */
export async function currentRoutes(
  db: Queryable,
  organizationId: string,
  wanted: RouteVersion[],
): Promise<Map<string, RouteConfig>> {
  const distinct = [...new Map(wanted.map((one) => [routeKey(one), one])).values()];
  const ids = distinct.map(({ routeId }) => routeId);
  const rows = await sql(db).rows<RouteVersion & { config: RouteConfig }>`
    select w.id as route_id, w.version as route_version, case when r.id is null then e.config
      else delivery_config(r) end as config
    from unnest(${ids}::text[], ${distinct.map(({ routeVersion }) => routeVersion)}::int[]) as w(id, version)
    left join routes r on r.id = w.id and r.organization_id = ${organizationId}
    left join earlier_versions e on r.id is null and e.record_id = w.id and e.version = w.version
      and e.organization_id = ${organizationId}
    where coalesce(r.id, e.record_id) is not null`;
  return new Map(rows.map((row) => [routeKey(row), row.config]));
}
