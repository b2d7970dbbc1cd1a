// Destinations, routes and transforms as attempts need them, cached by id and version: the version comes with every
// delivery that is loaded, so a changed record is read again at once, and an unchanged one is not.
import { LRUCache } from 'lru-cache';
import type { SecretBox } from '../db/encryption/secret-box.ts';
import {
  loadDestination,
  loadRoute,
  loadTransform,
  type OpenDestination,
  openSecrets,
  type RouteConfig,
  type TransformConfig,
} from '../db/hot-path/attempt-config.ts';
import type { Pool } from '../db/connections/pool.ts';

export type { RouteConfig };

export interface DestinationConfig extends OpenDestination {
  leadsHere: (url: string) => boolean;
}

const MAX_CACHED = 10_000;

/** Null when the organization has no such record, or its version is not kept (any more). */
type LookUp<T> = (organizationId: string, id: string, version: number) => Promise<T | null>;

export type ConfigCache = ReturnType<typeof createConfigCache>;

/**
 * @param isOwnAddress whether a URL is one of this installation
 * @param maxRecords how many of each kind are kept; the one used longest ago goes first
 */
export function createConfigCache(
  pool: Pool,
  secretBox: SecretBox,
  isOwnAddress: (url: string) => boolean,
  maxRecords: number = MAX_CACHED,
) {
  return {
    destination: byVersion<DestinationConfig>(maxRecords, async (organizationId, id) => {
      const row = await loadDestination(pool, organizationId, id);
      if (row === null) return null;
      // Of all deliveries to which it adds nothing.
      const itself = isOwnAddress(row.url);
      return { ...openSecrets(row, secretBox), leadsHere: (url) => (url === row.url ? itself : isOwnAddress(url)) };
    }),
    route: byVersion<RouteConfig>(maxRecords, (...of) => loadRoute(pool, ...of)),
    transform: byVersion<TransformConfig>(maxRecords, (...of) => loadTransform(pool, ...of)),
  };
}

/** A lookup that caches its result; concurrent lookups share one query. */
function byVersion<T>(max: number, load: LookUp<T>): LookUp<T> {
  const cached = new LRUCache<string, Promise<T | null>>({ max });
  return (organizationId, id, version) => {
    const key = `${organizationId} ${id} ${version}`;
    const known = cached.get(key);
    if (known) return known;
    const value = load(organizationId, id, version);
    cached.set(key, value);
    // Failure policy: a failed load is not kept; the attempt fails on our side and is retried.
    value.catch(() => cached.delete(key));
    return value;
  };
}
