// What is known of the connection of a request: where it goes, whether others used it before, and how long its steps took. A client of
// undici has one connection at a time (HTTP/1.1, no pipelining), so what a request is to know of its connection is kept with its client.
import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import type { GuardedConnector } from './guarded-connect.ts';

/** A connection, from the moment at which it is begun. Times by `performance.now()`; null: not reached, or there is no such step. */
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

/** What is known of the exchange of a request. Times in ms; null: not reached, or there was no such step. */
export interface ExchangeFacts {
  address: string | null;
  port: number | null;
  /** Whether the connection was there before the request; then no step of it was part of the request. */
  reused: boolean;
  dns: number | null;
  connect: number | null;
  tls: number | null;
  /** From the request on the connection to the first byte of its answer. */
  firstByte: number | null;
  /** From the start of the request until a connection was begun for it. */
  beganAfter: number | null;
  /** From the start of the request until it was written. */
  sentAfter: number | null;
}

/** Notes the steps of a connection that has been begun. */
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

/** The connection of a client at the moment. */
interface Line {
  current: Connection | null;
}

/** A handler of undici that is told its connection. */
export interface WatchedHandler extends Dispatcher.DispatchHandler {
  watch?: RequestWatch;
}

/** A client that tells its requests their connection. */
export class WatchedClient extends Client {
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

/** Follows one request. */
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

  /** The connection is there, and the request is being written. */
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

  /** Whether the connection was made for this request. A request that was given up leaves its connection to the next one. */
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
