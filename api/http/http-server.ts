// The HTTP server of the API: every limit on clients before the app runs, and on their connections afterwards.
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { clientError, end, hasEnded, refuse } from './client-errors.ts';
import { clientAddressOf, NO_PROXIES, type ProxyTrust, peerOf, setPeer } from './client-addresses.ts';
import { ConnectionLimits } from './connection-limits.ts';
import { ApiError } from '../request/errors.ts';
import { framingProblem, originForm } from './framing.ts';
import { type HttpLimits, MAX_HEADER_BYTES, MAX_PIPELINED } from './http-limits.ts';
import { OpenConnections } from './open-connections.ts';

/** Refused connections that stay open long enough to read the answer; the others are closed at once. */
const MAX_LINGERING = 100;

const TOO_MANY_AHEAD = new ApiError(
  503,
  'TOO_MANY_REQUESTS_UNDER_WAY',
  `At most ${MAX_PIPELINED} requests may be sent ahead on one connection`,
  undefined,
  { 'Retry-After': '1' },
);

const FOR_MANAGEMENT = new ApiError(
  503,
  'TOO_MANY_CONNECTIONS',
  'So many connections are open that only the management API is served; send it again',
  undefined,
  { 'Retry-After': '1' },
);
/** What is served on the connections that are kept for it. */
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
    if (problem !== null) return refuse(response, new ApiError(problem.status, problem.code, problem.message));
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
    refuse(response, new ApiError(417, 'EXPECTATION_FAILED', 'The only expectation that can be met is 100-continue')),
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
  const message = `More than ${maxConnectionsPerAddress} connections or requests from one address, or more than are free; close some, or set HOOKYARD_MAX_CONNECTIONS_PER_ADDRESS`;
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

/** Puts the limit per address before Node's own handler of connections, so that refused connections are never parsed. */
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

/** Closes a connection whose first request does not come in time. */
function cutOffSilent(socket: Socket, connections: OpenConnections, ms: number): void {
  const timer = setTimeout(() => {
    if (connections.requestsOn(socket) === 0) socket.destroy();
  }, ms).unref();
  socket.once('close', () => clearTimeout(timer));
}
