// Keep-alive connections of the most recently used destinations.
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { Client, type Dispatcher, Pool } from 'undici';
import type { AttemptSteps } from '../../core/process/tracing.ts';
import { ownWords } from '../../core/text/error-summary.ts';
import type { AllowList } from './address-guard.ts';
import type { GuardedConnector } from './guarded-connect.ts';
import { OwnSendError } from './send-errors.ts';
import type { SendRequest } from './sender.ts';

/** Of an address that cannot be requested; a retry would fail the same way. */
function invalidUrl(url: string): OwnSendError {
  const rule = ownWords`cannot be used: it must be an absolute http:// or https:// URL`;
  // Its query may hold a secret.
  return new OwnSendError('INVALID_URL', { summary: ownWords`The URL ${rule}`, detail: `The URL ${url} ${rule}` });
}

// Maximum bytes of response headers; a response with more is an error.
const MAX_HEADER_BYTES = 16 * 1024;

type Entry = { url: string; origin: string; path: string; pool: Pool; allow: AllowList; connect: GuardedConnector };

/** @param options.allow the list that connectors go by; connections made under another one are not used again */
export function createPools(options: {
  connectorOf: (url: URL) => GuardedConnector;
  allow: () => AllowList;
  maxPools: number;
}) {
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
    if (parsed === null || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) throw invalidUrl(url);
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
    /** The pool of a destination and the path to request there. @throws OwnSendError */
    get(request: Pick<SendRequest, 'organizationId' | 'poolKey' | 'url' | 'target'>): { pool: Pool; path: string } {
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

// What is known of the connection of a request: where it goes, whether others used it before, and how long its steps
// took. A client of undici has one connection at a time (HTTP/1.1, no pipelining), so what a request is to know of its
// connection is kept with its client.

/**
 * A connection, from the moment at which it is begun. Times by `performance.now()`; null: not reached, or there is no
 * such step.
 */
export interface Connection {
  beganAt: number;
  resolvedAt: number | null;
  connectedAt: number | null;
  securedAt: number | null;
  /** Where it goes; of one that is not there yet, the address that is tried. */
  address: string | null;
  port: number | null;
  isUsed: boolean;
}

export interface ExchangeFacts extends AttemptSteps {
  /** Whether the connection was there before the request; then no step of it was part of the request. */
  reused: boolean;
}

export function watchSocket(socket: Socket, connection: Connection): void {
  socket.once('lookup', () => {
    connection.resolvedAt = performance.now();
  });
  socket.on('connectionAttempt', (address, port) => {
    Object.assign(connection, { address, port });
  });
  // Before undici hears of it and sends the request.
  socket.prependOnceListener('connect', () => {
    connection.connectedAt = performance.now();
    connection.address = socket.remoteAddress ?? connection.address;
    connection.port = socket.remotePort ?? connection.port;
  });
}

interface Line {
  current: Connection | null;
}

export interface WatchedHandler extends Dispatcher.DispatchHandler {
  watch?: RequestWatch;
}

class WatchedClient extends Client {
  readonly #line: Line;

  constructor(origin: URL, options: object, connect: GuardedConnector, organizationId: string) {
    const line: Line = { current: null };
    super(origin, {
      ...options,
      connect: (target, callback) => {
        line.current = newConnection();
        connect(target, callback, { organizationId, connection: line.current });
      },
    });
    this.#line = line;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: WatchedHandler): boolean {
    handler.watch?.follow(this.#line);
    return super.dispatch(options, handler);
  }
}

function newConnection(): Connection {
  return {
    beganAt: performance.now(),
    resolvedAt: null,
    connectedAt: null,
    securedAt: null,
    address: null,
    port: null,
    isUsed: false,
  };
}

export class RequestWatch {
  readonly #startedAt: number;
  #line: Line | null = null;
  #connection: Connection | null = null;
  #isReused = false;
  #sentAt: number | null = null;
  #answeredAt: number | null = null;

  /** @param startedAt `performance.now()` when the request began to wait for a connection */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  follow(line: Line): void {
    this.#line = line;
  }

  sending(): void {
    this.#sentAt = performance.now();
    this.#connection = this.#line?.current ?? null;
    if (this.#connection === null) return;
    this.#isReused = this.#connection.isUsed || !this.#isOwn(this.#connection);
    this.#connection.isUsed = true;
  }

  answered(): void {
    this.#answeredAt ??= performance.now();
  }

  facts(): ExchangeFacts {
    const current = this.#line?.current ?? null;
    const connection = this.#connection ?? (current && this.#isOwn(current) ? current : null);
    return {
      address: connection?.address ?? null,
      port: connection?.port ?? null,
      reused: this.#isReused,
      ...stepsOf(this.#isReused ? null : connection),
      firstByte: between(this.#sentAt, this.#answeredAt),
      beganAfter: this.#isReused || connection === null ? null : between(this.#startedAt, connection.beganAt),
      sentAfter: between(this.#startedAt, this.#sentAt),
    };
  }

  /**
   * Whether the connection was made for this request. A request that was given up leaves its connection to the next
   * one.
   */
  #isOwn({ beganAt }: Connection): boolean {
    return beganAt >= this.#startedAt;
  }
}

function stepsOf(connection: Connection | null): Pick<ExchangeFacts, 'dns' | 'connect' | 'tls'> {
  if (connection === null) return { dns: null, connect: null, tls: null };
  const { beganAt, resolvedAt, connectedAt, securedAt } = connection;
  return {
    dns: between(beganAt, resolvedAt),
    connect: between(resolvedAt ?? beganAt, connectedAt),
    tls: between(connectedAt, securedAt),
  };
}

/** ms, in tenths. */
function between(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : Math.max(0, Math.round((to - from) * 10) / 10);
}
