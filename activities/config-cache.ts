// Destinations and routes as attempts need them, cached by id and version: the version comes with every delivery that
// is loaded, so a changed record is read again at once and an unchanged one never.
import { LRUCache } from 'lru-cache';
import type { AuthType } from '../core/auth-config.ts';
import type { FailoverRule } from '../core/failover.ts';
import type { ExpectedResponse } from '../core/response-check.ts';
import type { SecretBox } from '../db/encryption.ts';
import type { TransformType } from '../core/transform-types.ts';
import type { Pool } from '../db/pool.ts';

/** A destination with its credentials in clear: never logged, never in a history. */
export interface DestinationConfig {
  id: string;
  version: number;
  enabled: boolean;
  method: string;
  url: string;
  headers: Record<string, string>;
  authType: AuthType;
  authConfig: Record<string, string> | null;
  signingSecret: string | null;
  timeoutMs: number;
  /** Null: unlimited. */
  rateLimitPerMinute: number | null;
}

export interface RouteConfig extends FailoverRule {
  id: string;
  version: number;
  expectedResponse: ExpectedResponse | null;
  circuitFailureThreshold: number;
}

/** A transform as attempts run it. */
export interface TransformConfig {
  id: string;
  version: number;
  name: string;
  type: TransformType;
  code: string;
  outputContentType: string | null;
}

const DESTINATION = `
select id, version, enabled, method, url, headers, auth_type as "authType", auth_config as "authConfig",
       signing_secret as "signingSecret", timeout_ms as "timeoutMs",
       rate_limit_per_minute as "rateLimitPerMinute"
from destinations where id = $1`;
const ROUTE = `select id, version, expected_response as "expectedResponse",
       failover_destination_ids as "failoverDestinationIds", failover_after_attempts as "failoverAfterAttempts",
       circuit_failure_threshold as "circuitFailureThreshold"
from routes where id = $1`;

const TRANSFORM = `select id, version, name, type, code, output_content_type as "outputContentType"
from transforms where id = $1`;

const MAX_CACHED = 10_000;

export interface ConfigCache {
  /** Null when the destination was deleted meanwhile. */
  destination(id: string, version: number): Promise<DestinationConfig | null>;
  route(id: string, version: number): Promise<RouteConfig | null>;
  transform(id: string, version: number): Promise<TransformConfig | null>;
}

/** @param maxRecords how many of each kind are kept; the one used longest ago goes first */
export function createConfigCache(pool: Pool, secretBox: SecretBox, maxRecords: number = MAX_CACHED): ConfigCache {
  return {
    destination: byVersion(maxRecords, async (id) => {
      const { rows } = await pool.query<Omit<DestinationConfig, 'authConfig'> & { authConfig: string | null }>({
        name: 'destination-config',
        text: DESTINATION,
        values: [id],
      });
      return rows[0] ? openSecrets(rows[0], secretBox) : null;
    }),
    route: byVersion(maxRecords, async (id) => {
      const { rows } = await pool.query<RouteConfig>({ name: 'route-config', text: ROUTE, values: [id] });
      return rows[0] ?? null;
    }),
    transform: byVersion(maxRecords, async (id) => {
      const { rows } = await pool.query<TransformConfig>({ name: 'transform-config', text: TRANSFORM, values: [id] });
      return rows[0] ?? null;
    }),
  };
}

function openSecrets(
  row: Omit<DestinationConfig, 'authConfig'> & { authConfig: string | null },
  secretBox: SecretBox,
): DestinationConfig {
  return {
    ...row,
    authConfig: row.authConfig === null ? null : JSON.parse(secretBox.decrypt(row.authConfig, row.id)),
    signingSecret: row.signingSecret === null ? null : secretBox.decrypt(row.signingSecret, row.id),
  };
}

/** A look-up that keeps what it found until a newer version is asked for; concurrent look-ups share one query. */
function byVersion<T extends { version: number }>(
  max: number,
  load: (id: string) => Promise<T | null>,
): (id: string, version: number) => Promise<T | null> {
  const cached = new LRUCache<string, { version: number; value: Promise<T | null> }>({ max });
  return (id, version) => {
    const known = cached.get(id);
    if (known && known.version >= version) return known.value;
    const value = load(id);
    cached.set(id, { version, value });
    // Failure policy: a failed load is not kept; the attempt fails on our own side and is made again.
    value.catch(() => cached.delete(id));
    return value;
  };
}
