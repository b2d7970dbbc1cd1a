// The HTTP server of the API: every limit on clients before the app runs, and on their connections afterwards.
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { FairQueue, type Leave } from '../../core/fairness/fair-queue.ts';
import type { Log } from '../../core/process/log.ts';
import { ApiError } from '../request/errors.ts';
import { clientAddressOf, NO_PROXIES, type Peer, type ProxyTrust, peerOf, setPeer } from './client-addresses.ts';
import {
  clientError,
  end,
  type HttpLimits,
  hasEnded,
  MAX_HEADER_BYTES,
  MAX_HEADERS,
  MAX_PIPELINED,
  OpenConnections,
  refuse,
} from './connections.ts';

/** Refused connections that stay open long enough to read the answer; the others are closed at once. */
const MAX_LINGERING = 100;

const TOO_MANY_AHEAD = new ApiError(
  503,
  'TOO_MANY_REQUESTS_UNDER_WAY',
  `A connection is limited to ${MAX_PIPELINED} pipelined requests`,
  undefined,
  { 'Retry-After': '1' },
);

const FOR_MANAGEMENT = new ApiError(
  503,
  'TOO_MANY_CONNECTIONS',
  'Too many connections are open, so only the management API is available; try again in a moment',
  undefined,
  { 'Retry-After': '1' },
);
const MANAGEMENT = /^\/(?:api\/|healthz|readyz)/i;

type Handle = (request: IncomingMessage, response: ServerResponse) => unknown;

/**
 * Makes the HTTP server of the app. Bytes that are not HTTP are never logged: anyone can send them.
 * @param onRefused called with the address of each connection above the limit
 * @param connections tracks every other connection, and can end them
 * @param trust the operator's proxies, whose word about clients is taken
 */
export function createHttpServer(
  handle: Handle,
  limits: HttpLimits,
  onRefused: (address: string | undefined) => void = () => {},
  connections: OpenConnections = new OpenConnections(),
  trust: ProxyTrust = NO_PROXIES,
): Server {
  const counts = new ConnectionLimits(limits);
  const tooMany = tooManyConnections(limits);
  const server = createServer(optionsOf(limits), (request, response) => {
    if (hasEnded(request.socket)) return;
    const connection = connections.begin(request, response);
    // Node says it in the answer, but leaves the closing to the client.
    if (connection.requests >= limits.maxRequestsPerConnection) response.setHeader('Connection', 'close');
    const problem = framingProblem(request);
    if (problem !== null) return refuse(response, problem);
    request.url = originForm(request.url ?? '');
    if (connection.underWay > MAX_PIPELINED) return refuse(response, TOO_MANY_AHEAD);
    if (counts.isReserved(request.socket)) {
      if (!MANAGEMENT.test(request.url ?? '')) return refuse(response, FOR_MANAGEMENT);
      response.setHeader('Connection', 'close');
    }
    if (peerOf(request.socket).isProxy) {
      const { address, client } = clientAddressOf(request, trust);
      if (!counts.admitForwarded(response, client)) {
        onRefused(address);
        return refuse(response, tooMany);
      }
    }
    handle(request, response);
  });
  // 0: Node drops nothing, `framingProblem` refuses.
  server.maxHeadersCount = 0;
  server.maxRequestsPerSocket = limits.maxRequestsPerConnection;
  // Those that are refused may linger beside those that are served, which `limitConnections` counts.
  server.maxConnections = limits.maxConnections + MAX_LINGERING;
  server.on('drop', (dropped) => onRefused(dropped?.remoteAddress));
  limitConnections(server, { limits, counts, connections, trust, onRefused, tooMany });
  // Clients that do not read their answer or have vanished.
  const sweep = setInterval(() => connections.cutOff(limits.answerMs), limits.checkEveryMs).unref();
  server.once('close', () => clearInterval(sweep));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
    end(socket, clientError(error), limits.lingerMs),
  );
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) =>
    refuse(response, new ApiError(417, 'EXPECTATION_FAILED', 'The only supported expectation is 100-continue')),
  );
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node has released this connection and reads no further bytes of it.
    socket.on('error', () => socket.destroy()).resume();
    end(socket, new ApiError(405, 'METHOD_NOT_ALLOWED', 'This server is not a proxy'), limits.lingerMs);
  });
  return server;
}

/** Accepts no further connection; resolves when the last one is closed. Closing them is up to the caller. */
export function stopListening(server: Server): Promise<void> {
  // Not the server's own `close`: it cuts idle connections at once, even when a request is about to arrive.
  return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()));
}

function optionsOf(limits: HttpLimits): ServerOptions {
  return {
    insecureHTTPParser: false,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Checked by `framingProblem` instead, so that the refusal has a body.
    requireHostHeader: false,
  };
}

function tooManyConnections({ maxConnectionsPerAddress }: HttpLimits): ApiError {
  const message = `This address has too many connections or requests (the maximum is ${maxConnectionsPerAddress}), or the server has no free connections; close some connections, or raise HOOKYARD_MAX_CONNECTIONS_PER_ADDRESS`;
  return new ApiError(503, 'TOO_MANY_CONNECTIONS', message, undefined, { 'Retry-After': '1' });
}

interface Admitting {
  limits: HttpLimits;
  counts: ConnectionLimits;
  connections: OpenConnections;
  trust: ProxyTrust;
  onRefused: (address?: string) => void;
  tooMany: ApiError;
}

/**
 * Puts the limit per address before Node's own handler of connections, so that refused connections are never parsed.
 */
function limitConnections(server: Server, admitting: Admitting): void {
  const { limits, counts, connections, trust, onRefused, tooMany } = admitting;
  const serve = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
  server.removeAllListeners('connection');
  let lingering = 0;

  const refuseConnection = (socket: Socket, address: string) => {
    onRefused(address);
    if (counts.isFull || lingering >= MAX_LINGERING) {
      socket.destroy();
      return;
    }
    lingering += 1;
    socket.once('close', () => {
      lingering -= 1;
    });
    socket.on('error', () => socket.destroy()).resume();
    end(socket, tooMany, limits.lingerMs);
  };

  const admit = (socket: Socket, address: string) => {
    const peer = setPeer(socket, address, trust);
    if (!counts.admit(socket, peer)) return refuseConnection(socket, address);
    connections.add(socket);
    for (const listener of serve) listener.call(server, socket);
    if (counts.isReserved(socket)) cutOffSilent(socket, connections, limits.managementHeadersMs);
  };

  server.on('connection', (socket: Socket) => admit(socket, socket.remoteAddress ?? ''));
}

function cutOffSilent(socket: Socket, connections: OpenConnections, ms: number): void {
  const timer = setTimeout(() => {
    if (connections.requestsOn(socket) === 0) socket.destroy();
  }, ms).unref();
  socket.once('close', () => clearTimeout(timer));
}

// Rejects requests that Node's parser accepts although two servers could disagree on where they end or for which host
// they are. A proxy in front of Hookyard that reads them differently would forward a request that it never saw (request
// smuggling).

/** uri-host [ ":" port ] (RFC 9110, section 7.2; RFC 3986, section 3.2.2), without characters that no host name has. */
const HOST = /^(?:[A-Za-z0-9._~!$&'()*+;=%-]*|\[[0-9A-Fa-f:.]+\])(?::\d*)?$/;

const bad = (message: string): ApiError => new ApiError(400, 'BAD_REQUEST', message);

/** What is wrong with the framing of a request whose headers have been parsed, or null. */
function framingProblem({ httpVersion, headers, rawHeaders, url = '' }: IncomingMessage): ApiError | null {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return bad('Only HTTP/1.1 and HTTP/1.0 are supported');
  // RFC 9112, section 3.2: an address of a request has none, and proxies differ in what they make of it.
  if (url.includes('#')) return bad('The request URL must not contain #');
  if (rawHeaders.length > 2 * MAX_HEADERS)
    return new ApiError(431, 'HEADERS_TOO_LARGE', `A request must have at most ${MAX_HEADERS} headers`);
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) {
    // RFC 9112, section 6.1: HTTP/1.0 has none, whatever it says.
    if (httpVersion === '1.0') return bad('HTTP/1.0 does not support Transfer-Encoding');
    if (coding.toLowerCase() !== 'chunked') return bad('The only supported Transfer-Encoding is chunked');
  }
  return hostProblem(httpVersion, headers.host, rawHeaders);
}

/** RFC 9112, section 3.2: exactly one Host in HTTP/1.1, and one that can be a host. */
function hostProblem(version: string, host: string | undefined, rawHeaders: string[]): ApiError | null {
  if (host === undefined) return version === '1.1' ? bad('The request has no Host header') : null;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1) return bad('The request has more than one Host header');
  return HOST.test(host) ? null : bad('The Host header is not a valid host');
}

/**
 * The path and the query of a request whose address is absolute (RFC 9112, section 3.2.2), as they were received. URL
 * parsers write them anew.
 */
function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const below = /^https?:\/\/[^/?]*(.*)$/is.exec(url)?.[1];
  if (below === undefined) return url;
  return below.startsWith('/') ? below : `/${below}`;
}

// How many connections, and requests through the operator's proxies, one client may have at a time; and which
// connections are kept for the management API.

// No client may have more connections than it leaves free.
const TIMES_FREE = 1;
const PROXIES = 'proxies';

class ConnectionLimits {
  readonly #perClient: number;
  readonly #ordinary: number;
  readonly #connections: FairQueue;
  readonly #forwarded: FairQueue;
  readonly #reserved = new WeakSet<Socket>();

  constructor({ maxConnections, maxConnectionsPerAddress, managementConnections }: HttpLimits) {
    this.#perClient = maxConnectionsPerAddress;
    this.#ordinary = maxConnections - managementConnections;
    this.#connections = new FairQueue(maxConnections, TIMES_FREE);
    this.#forwarded = new FairQueue(maxConnections, TIMES_FREE);
  }

  get isFull(): boolean {
    return this.#connections.isFull;
  }

  /**
   * Counts a new connection until it is closed. Those of the operator's proxies count in all only.
   * @returns false when the client has as many as it may; the connection is not counted then
   */
  admit(socket: Socket, { client, isProxy }: Peer): boolean {
    const leave = isProxy ? this.#takeForProxy() : this.#take(this.#connections, client);
    if (leave === null) return false;
    socket.once('close', leave);
    if (this.#connections.held > this.#ordinary) this.#reserved.add(socket);
    return true;
  }

  /**
   * Counts a request that a proxy has forwarded until it is answered.
   * @returns false when the client has as many under way as it may
   */
  admitForwarded(response: ServerResponse, client: string): boolean {
    const leave = this.#take(this.#forwarded, client);
    if (leave !== null) response.once('close', leave);
    return leave !== null;
  }

  isReserved(socket: Socket): boolean {
    return this.#reserved.has(socket);
  }

  #takeForProxy(): Leave | null {
    return this.isFull ? null : this.#connections.enter(PROXIES);
  }

  #take(slots: FairQueue, client: string): Leave | null {
    return slots.heldBy(client) < this.#perClient ? slots.takeNow(client) : null;
  }
}

const LOG_EVERY_MS = 60_000;

/** @returns a function to call with every refused connection; it writes at most one line a minute */
export function refusedConnections(log: Log): (address: string | undefined) => void {
  let count = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (address) => {
    count += 1;
    const now = performance.now();
    if (now - loggedAt < LOG_EVERY_MS) return;
    log.warn(
      { refused: count, lastAddress: address },
      'connections or requests were refused because there were too many; see HOOKYARD_MAX_CONNECTIONS_PER_ADDRESS',
    );
    loggedAt = now;
    count = 0;
  };
}
