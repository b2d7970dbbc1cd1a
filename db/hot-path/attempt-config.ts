// Reads destinations, routes and transforms for attempts. Credentials are returned encrypted, as stored; `openSecrets` decrypts them.
import type { AuthType } from '../../core/auth-config.ts';
import type { FailoverRule } from '../../core/failover.ts';
import type { ForwardHeaders } from '../../core/forwarded-headers.ts';
import type { ExpectedResponse } from '../../core/response-check.ts';
import type { TransformType } from '../../core/transform-types.ts';
import type { SecretBox } from '../encryption/secret-box.ts';
import type { Queryable } from '../connections/pool.ts';

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
  /** Encrypted. */
  authConfig: string | null;
  /** Encrypted. */
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
  expectedResponse: ExpectedResponse | null;
  circuitFailureThreshold: number;
  /** Whether it may deliver to addresses of this installation. */
  allowOwnAddress: boolean;
}

/** A transform for attempts. */
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

/** Null when the organization has no such destination (any more), as of the others below. */
export async function loadDestination(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<DestinationRow | null> {
  const { rows } = await db.query<DestinationRow>({
    name: 'destination-config',
    text: DESTINATION,
    values: [organizationId, id],
  });
  return rows[0] ?? null;
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

const FAILOVER_RULE = `failover_destination_ids as "failoverDestinationIds", failover_after_attempts as "failoverAfterAttempts"`;

const ROUTE = `
select id, version, expected_response as "expectedResponse", ${FAILOVER_RULE},
       circuit_failure_threshold as "circuitFailureThreshold", allow_own_address as "allowOwnAddress"
from routes where organization_id = $1 and id = $2`;

export async function loadRoute(db: Queryable, organizationId: string, id: string): Promise<RouteConfig | null> {
  const { rows } = await db.query<RouteConfig>({ name: 'route-config', text: ROUTE, values: [organizationId, id] });
  return rows[0] ?? null;
}

const TRANSFORM = `
select id, version, name, type, code, output_content_type as "outputContentType"
from transforms where organization_id = $1 and id = $2`;

export async function loadTransform(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<TransformConfig | null> {
  const { rows } = await db.query<TransformConfig>({
    name: 'transform-config',
    text: TRANSFORM,
    values: [organizationId, id],
  });
  return rows[0] ?? null;
}

/** The rules of routes, by id; one that was deleted is missing. */
export async function failoverRules(
  db: Queryable,
  organizationId: string,
  routeIds: string[],
): Promise<Map<string, FailoverRule>> {
  const { rows } = await db.query<{ id: string } & FailoverRule>(
    `select id, ${FAILOVER_RULE} from routes where organization_id = $1 and id = any($2::text[])`,
    [organizationId, routeIds],
  );
  return new Map(rows.map((rule) => [rule.id, rule]));
}
