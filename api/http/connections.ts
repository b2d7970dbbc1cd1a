// Connections of clients: what they may ask before any of our code runs, how refusals are answered, how connections
// end.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { newId } from '../../core/text/ids.ts';
import { ApiError, errorBody } from '../request/errors.ts';

// What a client may ask of the HTTP server before any of our code runs. docs/operate/security.md, "Network in", lists
// all of it.

/** Bytes of request line and headers together. */
export const MAX_HEADER_BYTES = 32 * 1024;
/** Header lines of a request. Node silently drops lines above its own limit; we refuse the request. */
export const MAX_HEADERS = 500;
/** Requests that a client may send ahead on one connection (pipelining). */
export const MAX_PIPELINED = 32;

export const HTTP_LIMITS = {
  /** From the opening of a connection, or the first byte of a further request, to the end of its headers, ms. */
  headersMs: 20_000,
  /** ... to the end of its body. */
  requestMs: 60_000,
  /**
   * How long a connection may be idle between two requests, ms. Longer than the usual 60 s idle timeout of load
   * balancers, so that they close idle connections first.
   */
  keepAliveMs: 65_000,
  /**
   * From the end of the headers to the last byte of the answer in the client's hands, ms. A body may take 60 s, and a
   * test of a destination 60 s more.
   */
  answerMs: 180_000,
  /** How often Node checks the first two timeouts, ms; a late connection is cut at most this much later. */
  checkEveryMs: 5000,
  /** How long a client may keep its side open after we ended the connection, ms. */
  lingerMs: 5000,
  /** Requests on one connection before it is closed, so that clients spread over the processes behind a balancer. */
  maxRequestsPerConnection: 10_000,
  /** To the end of the headers on connections that serve the management API only, ms. */
  managementHeadersMs: 5000,
};

const MANAGEMENT_PART = 1 / 20;

export function connectionCounts(maxConnections: number, settings: { HOOKYARD_MAX_CONNECTIONS_PER_ADDRESS: number }) {
  return {
    /** Open connections in total; further ones are closed without an answer. */
    maxConnections,
    /** Open connections per client address; further ones are answered 503 and closed. */
    maxConnectionsPerAddress: settings.HOOKYARD_MAX_CONNECTIONS_PER_ADDRESS,
    /** Of all connections, the last ones, which serve the management API only. */
    managementConnections: Math.floor(maxConnections * MANAGEMENT_PART),
  };
}

export type HttpLimits = typeof HTTP_LIMITS & ReturnType<typeof connectionCounts>;

// Answers requests that never reach the app (invalid HTTP, too many connections), in the shape of every other error.

// Codes of llhttp and of Node's server (Node manual, "clientError").
const KNOWN: Record<string, [status: number, code: string, message: string]> = {
  HPE_HEADER_OVERFLOW: [
    431,
    'HEADERS_TOO_LARGE',
    `The URL and headers must be at most ${MAX_HEADER_BYTES} bytes in total`,
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'PAYLOAD_TOO_LARGE', 'The chunk extensions are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'REQUEST_TIMEOUT', 'The request timed out'],
};

export function clientError(error: NodeJS.ErrnoException): ApiError {
  const known = KNOWN[error.code ?? ''];
  // The parser's reason is fixed text ("Invalid header token"), never what was sent.
  const reason = 'reason' in error && typeof error.reason === 'string' ? error.reason : 'unreadable data';
  return known ? new ApiError(...known) : new ApiError(400, 'BAD_REQUEST', `Invalid HTTP request: ${reason}`);
}

// Connections whose last answer was sent: further errors on them are not answered.
const ended = new WeakSet<Socket>();

/** Whether the last answer of a connection was sent; a pipelined request after it is not handled. */
export function hasEnded(socket: Socket): boolean {
  return ended.has(socket);
}

/** Answers a request without asking the app, and closes its connection. */
export function refuse(response: ServerResponse, error: ApiError): void {
  if (response.socket) ended.add(response.socket);
  const body = JSON.stringify(errorBody(error));
  response.writeHead(error.status, headersOf(error, body)).end(body);
}

/**
 * Answers on a bare connection and closes it.
 * @param lingerMs how long the client may take to close its side: cut off at once, it might see a broken connection
 *   instead of the answer (RFC 9112, section 9.6), and without a limit it could keep the connection for ever
 */
export function end(socket: Socket, error: ApiError, lingerMs: number): void {
  if (ended.has(socket)) return;
  // Already closed, or in the middle of another answer: writing now would corrupt that one.
  const answering = (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage;
  if (!socket.writable || answering?.headersSent) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(errorBody(error));
  const headers = Object.entries(headersOf(error, body)).map(([name, value]) => `${name}: ${value}\r\n`);
  const answer = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${headers.join('')}\r\n${body}`;
  endWith(answer, socket, lingerMs);
}

function endWith(lastBytes: string, socket: Socket, lingerMs: number): void {
  ended.add(socket);
  const cut = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(cut));
  socket.end(lastBytes);
}

function headersOf(error: ApiError, body: string): Record<string, string | number> {
  return {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': newId('req'),
    ...error.headers,
    Connection: 'close',
  };
}

// The open connections of clients and their graceful end: no client may lose an answer, or be cut off during a request.

interface Connection {
  requests: number;
  underWay: Map<ServerResponse, number>;
  /** When the last request or answer ended, or the connection began (ms of `performance.now`). */
  restsSince: number;
  /** Bytes received by then: a connection that has received more is receiving a request. */
  bytesRead: number;
}

export class OpenConnections {
  readonly #open = new Map<Socket, Connection>();
  #draining = false;
  #added = 0;

  get draining(): boolean {
    return this.#draining;
  }

  get added(): number {
    return this.#added;
  }

  add(socket: Socket): void {
    if (this.#open.has(socket)) return;
    this.#added += 1;
    this.#open.set(socket, { requests: 0, underWay: new Map(), restsSince: performance.now(), bytesRead: 0 });
    socket.once('close', () => this.#open.delete(socket));
  }

  /** Counts a request. @returns those of its connection so far, and the unanswered ones, both with this one */
  begin(request: IncomingMessage, response: ServerResponse): { requests: number; underWay: number } {
    const { socket } = request;
    const connection = this.#open.get(socket);
    // The client disconnected while its request waited to be read.
    if (connection === undefined) return { requests: 1, underWay: 1 };
    connection.requests += 1;
    connection.underWay.set(response, performance.now());
    const rests = () => {
      connection.restsSince = performance.now();
      connection.bytesRead = socket.bytesRead;
    };
    // The rest of a body may arrive after the answer.
    request.once('close', rests);
    response.once('close', () => {
      connection.underWay.delete(response);
      rests();
    });
    if (this.#draining) announceEnd(response);
    return { requests: connection.requests, underWay: connection.underWay.size };
  }

  requestsOn(socket: Socket): number {
    return this.#open.get(socket)?.requests ?? 0;
  }

  drain(): void {
    this.#draining = true;
    for (const { underWay } of this.#open.values()) for (const response of underWay.keys()) announceEnd(response);
  }

  cutOff(afterMs: number): void {
    const before = performance.now() - afterMs;
    for (const [socket, { underWay }] of this.#open) {
      const [oldest] = underWay.values();
      if (oldest !== undefined && oldest < before) socket.destroy();
    }
  }

  /** Ends connections that have been idle for so long. @param lingerMs how long a client may keep its side open */
  endResting(forMs: number, lingerMs: number): void {
    const now = performance.now();
    for (const [socket, { underWay, restsSince, bytesRead }] of this.#open) {
      const rests = underWay.size === 0 && socket.bytesRead === bytesRead && now - restsSince >= forMs;
      // Without a request: one may be on its way already.
      if (rests && !ended.has(socket)) endWith('', socket, lingerMs);
    }
  }
}

/** The client sends nothing more on this connection, and Node closes it after the answer (RFC 9112, section 9.6). */
function announceEnd(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
