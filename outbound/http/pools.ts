// Keep-alive connections of the most recently used destinations.
import { LRUCache } from 'lru-cache';
import { Pool } from 'undici';
import { ownWords } from '../../core/text/error-summary.ts';
import type { AllowList } from './allow-list.ts';
import { WatchedClient } from './connections.ts';
import type { GuardedConnector } from './guarded-connect.ts';
import { OwnSendError } from './send-errors.ts';
import type { SendRequest } from './sender.ts';

/** An address that cannot be requested; a retry would fail the same way. */
class InvalidUrlError extends OwnSendError {
  override readonly name = 'InvalidUrlError';
  constructor(url: string) {
    const rule = ownWords`cannot be used: it must be an absolute http or https address`;
    // Its query may hold a secret.
    super('INVALID_URL', { summary: ownWords`The URL ${rule}`, detail: `The URL ${url} ${rule}` });
  }
}

// Maximum bytes of response headers; a response with more is an error.
const MAX_HEADER_BYTES = 16 * 1024;

type Entry = { url: string; origin: string; path: string; pool: Pool; allow: AllowList; connect: GuardedConnector };

export type Pools = {
  /**
   * The pool of a destination and the path to request there.
   * @throws InvalidUrlError
   */
  get(request: Pick<SendRequest, 'organizationId' | 'poolKey' | 'url' | 'target'>): { pool: Pool; path: string };
  /** Closes every connection at once. */
  destroy(): Promise<void>;
};

/**
 * Makes an empty set of pools that holds at most `maxPools`.
 * @param options.allow the list that connectors go by; connections made under another one are not used again
 */
export function createPools(options: {
  connectorOf: (url: URL) => GuardedConnector;
  allow: () => AllowList;
  maxPools: number;
}): Pools {
  // A replaced one may keep the same pool; `open` retires it if not.
  const entries = new LRUCache<string, Entry>({
    max: options.maxPools,
    dispose: ({ pool }, _key, reason) => {
      if (reason === 'evict') retire(pool);
    },
  });
  // Retired pools that still finish their requests.
  const retired = new Set<Pool>();

  function retire(pool: Pool): void {
    retired.add(pool);
    const forget = (): void => void retired.delete(pool);
    pool.close().then(forget, forget);
  }

  function open(
    { organizationId, url }: Pick<SendRequest, 'organizationId' | 'url'>,
    allow: AllowList,
    previous: Entry | undefined,
  ): Entry {
    const parsed = URL.parse(url);
    if (parsed === null || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) {
      throw new InvalidUrlError(url);
    }
    const path = parsed.pathname + parsed.search;
    const connect = options.connectorOf(parsed);
    const isSame = previous?.origin === parsed.origin && previous.allow === allow && previous.connect === connect;
    if (isSame) return { ...previous, url, path };
    if (previous !== undefined) retire(previous.pool);
    const pool = new Pool(parsed.origin, {
      connect: (target, callback) => connect(target, callback, { organizationId }),
      factory: (origin, clientOptions) => new WatchedClient(origin, clientOptions, connect, organizationId),
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The deadline of the request is the only limit of time: these would restart with every chunk.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    return { url, origin: parsed.origin, path, pool, allow, connect };
  }

  return {
    get(request) {
      const { organizationId, poolKey, url } = request;
      const key = `${organizationId} ${poolKey}`;
      const previous = entries.get(key);
      // The usual case costs no parsing: a destination's address seldom changes.
      const allow = options.allow();
      const entry = previous?.url === url && previous.allow === allow ? previous : open(request, allow, previous);
      if (entry !== previous) entries.set(key, entry);
      return { pool: entry.pool, path: request.target ?? entry.path };
    },
    async destroy() {
      const all = [...retired, ...Array.from(entries.values(), ({ pool }) => pool)];
      entries.clear();
      await Promise.all(all.map((pool) => pool.destroy()));
    },
  };
}
