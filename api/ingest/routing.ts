// The routing data of a source, cached in the process. A cached copy may accept a request only through the statement
// that checks its version (db/hot-path/store-events.ts), and may refuse one only after its version was checked.
import { LRUCache } from 'lru-cache';
import { type Limiter, limitConcurrency } from '../../core/fairness/concurrency.ts';
import { FairQueue } from '../../core/fairness/fair-queue.ts';
import type { Gate } from '../../core/filters/schema-and-filter.ts';
import type { FilterText, SchemaText } from '../../core/filters/stored-schemas-and-filters.ts';
import type { IngestTokens } from '../../core/ingest/ingest-url.ts';
import { confirmsSubscriptions, openCredentials } from '../../core/verification/config.ts';
import { handshakesOf } from '../../core/verification/handshakes.ts';
import type { Pool } from '../../db/connections/pool.ts';
import type { SecretBox } from '../../db/encryption/secret-box.ts';
import { configVersion, loadRouting, type RouteRow, type RoutingRow, standingOf } from '../../db/hot-path/routing.ts';
import type { Sender } from '../../providers/provider.ts';
import { unavailable } from './answer.ts';

export type RoutedDestination = RouteRow['destinations'][number];

/** A source with its enabled routes, in the order in which they run. */
export type SourceRouting = ReturnType<typeof toRouting>;
export type RoutedRoute = SourceRouting['routes'][number];

// Of the JSON of routes, schemas and filters.
const MAX_CACHED_BYTES = 64 * 1024 * 1024;
const SOURCE_BYTES = 4096;
const MAX_NAMES = 10_000;
// Look-ups at a time: strangers who try addresses cause one each, and must leave connections to what stores webhooks:
// half of them, where there are few.
const MAX_LOOKUPS = 4;
const LOOKUP_WAIT_MS = 10_000;
/**
 * For names that may be anybody's they wait together, so that those of sources that are known do not wait behind them.
 */
const ANYBODY = '';
// Of those who ask with a method that no webhook has. They wait for each other only.
const MAX_STRANGERS = 1;
const MAX_STRANGERS_WAITING = 100;

export type RoutingCache = ReturnType<typeof createRoutingCache>;

export interface SourceReader {
  secretBox: SecretBox;
  /** Null: this release does not know its provider. */
  senderOf: (source: Pick<RoutingRow, 'provider' | 'verification'>) => Sender | null;
  /** @returns null for a route without a schema, a filter and an ordering key: it accepts every event at no cost */
  gateOf: (route: Pick<RouteRow, 'schema' | 'filter' | 'ordering'>) => Gate<SchemaText, FilterText> | null;
}

/** Concurrent loads of one source share a query. @param maxBytes how much is kept */
export function createRoutingCache(pool: Pool, reader: SourceReader, maxBytes: number = MAX_CACHED_BYTES) {
  const cached = new LRUCache<string, SourceRouting>({ maxSize: maxBytes });
  const found = new LRUCache<string, true>({ max: MAX_NAMES });
  // Names without a source, so that strangers who try names cost one query each time, like those who find a source.
  const missing = new LRUCache<string, true>({ max: MAX_NAMES });
  const lookups = new FairQueue(Math.min(MAX_LOOKUPS, Math.max(1, Math.floor(pool.options.max / 2))));
  const inStrangersTurn = limitConcurrency(MAX_STRANGERS, MAX_STRANGERS_WAITING);
  const loading = new Map<string, Promise<SourceRouting | null>>();

  /** Organizations take turns. @throws ApiError when there is none in time */
  function limiterOf(organizationSlug: string, sourceSlug: string): Limiter {
    const line = found.has(`${organizationSlug}/${sourceSlug}`) ? organizationSlug : ANYBODY;
    return async (run) => {
      const leave = await lookups.take(line, { waitMs: LOOKUP_WAIT_MS });
      if (leave === null) throw tooManyLookups();
      return run().finally(leave);
    };
  }

  async function load(organizationSlug: string, sourceSlug: string, limiter: Limiter): Promise<SourceRouting | null> {
    const row = await limiter(() => loadRouting(pool, organizationSlug, sourceSlug));
    const key = `${organizationSlug}/${sourceSlug}`;
    cached.delete(key);
    if (!row) {
      found.delete(key);
      missing.set(key, true);
      return null;
    }
    const routing = toRouting(row, reader);
    cached.set(key, routing, { size: SOURCE_BYTES + row.size });
    found.set(key, true);
    missing.delete(key);
    return routing;
  }

  function loadOnce(organizationSlug: string, sourceSlug: string): Promise<SourceRouting | null> {
    const key = `${organizationSlug}/${sourceSlug}`;
    const running = loading.get(key);
    if (running !== undefined) return running;
    const limiter = limiterOf(organizationSlug, sourceSlug);
    const started = load(organizationSlug, sourceSlug, limiter).finally(() => loading.delete(key));
    loading.set(key, started);
    return started;
  }

  async function current(
    organizationSlug: string,
    sourceSlug: string,
    limiter: Limiter,
  ): Promise<SourceRouting | null> {
    const known = cached.get(`${organizationSlug}/${sourceSlug}`);
    if (!known) return load(organizationSlug, sourceSlug, limiter);
    const version = await limiter(() => configVersion(pool, known.organizationId));
    return version === known.configVersion ? known : load(organizationSlug, sourceSlug, limiter);
  }

  return {
    /** The source as last loaded, or loaded now; null when there was none. May be out of date. */
    async get(organizationSlug: string, sourceSlug: string): Promise<SourceRouting | null> {
      const known = cached.get(`${organizationSlug}/${sourceSlug}`);
      if (known !== undefined) return known;
      return missing.has(`${organizationSlug}/${sourceSlug}`) ? null : loadOnce(organizationSlug, sourceSlug);
    },
    /** The source as of now: the cached copy when its version is still current, else loaded again. */
    getCurrent: (organizationSlug: string, sourceSlug: string) =>
      current(organizationSlug, sourceSlug, limiterOf(organizationSlug, sourceSlug)),
    /** As getCurrent, for someone who sends no webhook. @throws QueueFullError when too many of them are waiting */
    getForStranger: (organizationSlug: string, sourceSlug: string) =>
      current(organizationSlug, sourceSlug, inStrangersTurn),
    forget(organizationSlug: string, sourceSlug: string): void {
      cached.delete(`${organizationSlug}/${sourceSlug}`);
    },
  };
}

export const tooManyLookups = () => unavailable('Too many source lookups are in progress');

function toRouting(row: RoutingRow, { secretBox, senderOf, gateOf }: SourceReader) {
  const routes = row.routes.map(({ schema, filter, ...route }) => {
    const { ordering } = route;
    return { ...route, gate: gateOf({ schema, filter, ordering }) };
  });
  const open = (sealed: string | null) => (sealed === null ? null : secretBox.decrypt(sealed, row.sourceId));
  const credentials = (sealed: string | null) => openCredentials(open(sealed));
  const { previousSecret, previousSecretUntil: untilMs } = row;
  const sender = senderOf(row);
  return {
    organizationId: row.organizationId,
    configVersion: row.configVersion,
    standing: standingOf(row.standing),
    sourceId: row.sourceId,
    enabled: row.enabled,
    /** Null: this release does not know its provider, and refuses everything. */
    sender,
    credentials: credentials(row.secret),
    /** Those before, and when they end, ms since 1970; null when no secret is being rotated. */
    previous:
      previousSecret !== null && untilMs !== null ? { credentials: credentials(previousSecret), untilMs } : null,
    /** Requests that are answered and are no webhooks: those of its sender, and those of its owner. */
    handshakes: [...(sender?.handshakes ?? []), ...handshakesOf(row.handshake, open(row.handshakeToken))],
    confirmsSubscriptions: confirmsSubscriptions(row.verification),
    idempotencyKey: row.idempotencyKey,
    tokens: tokensOf(row, open),
    concealed: row.concealed,
    allowsPaths: row.allowPaths,
    answer: row.answer ?? sender?.answer ?? null,
    routes,
    isGated: routes.some(({ gate }) => gate !== null) || row.idempotencyKey?.jsonPath !== undefined,
  };
}

function tokensOf(row: RoutingRow, open: (sealed: string | null) => string | null): IngestTokens {
  const [previous, until] = [open(row.previousTokenValue), row.previousTokenUntil];
  return {
    rule: row.ingestToken,
    current: open(row.ingestTokenValue),
    previous: previous === null || until === null ? null : { token: previous, untilMs: until.getTime() },
  };
}
