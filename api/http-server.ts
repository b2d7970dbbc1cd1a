// The HTTP server of the API: every limit on clients before the app runs, and on their connections afterwards.
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { clientError, end, hasEnded, refuse } from './client-errors.ts';
import { createConnectionLimit } from './connection-limits.ts';
import { ApiError } from './errors.ts';
import { framingProblem } from './framing.ts';
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

type Handle = (request: IncomingMessage, response: ServerResponse) => unknown;

/**
 * Makes the HTTP server of the app. Bytes that are not HTTP are never logged: anyone can send them.
 * @param onRefused called with the address of each connection above the limit
 * @param connections tracks every other connection, and can end them
 */
export function createHttpServer(
  handle: Handle,
  limits: HttpLimits,
  onRefused: (address: string | undefined) => void = () => {},
  connections: OpenConnections = new OpenConnections(),
): Server {
  const server = createServer(optionsOf(limits), (request, response) => {
    if (hasEnded(request.socket)) return;
    const connection = connections.begin(request, response);
    cutOffLate(response, limits.answerMs);
    // Node says it in the answer, but leaves the closing to the client.
    if (connection.requests >= limits.maxRequestsPerConnection) response.setHeader('Connection', 'close');
    const problem = framingProblem(request);
    if (problem !== null) return refuse(response, new ApiError(problem.status, problem.code, problem.message));
    if (connection.underWay > MAX_PIPELINED) return refuse(response, TOO_MANY_AHEAD);
    handle(request, response);
  });
  // 0: Node drops nothing, `framingProblem` refuses.
  server.maxHeadersCount = 0;
  server.maxRequestsPerSocket = limits.maxRequestsPerConnection;
  server.maxConnections = limits.maxConnections;
  server.on('drop', (dropped) => onRefused(dropped?.remoteAddress));
  limitConnections(server, limits, connections, onRefused);
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

/** Closes connections of clients that do not read their answer or have vanished. */
function cutOffLate(response: ServerResponse, answerMs: number): void {
  const { socket } = response.req;
  const timer = setTimeout(() => socket.destroy(), answerMs).unref();
  response.once('close', () => clearTimeout(timer));
}

/** Puts the limit per address before Node's own handler of connections, so that refused connections are never parsed. */
function limitConnections(
  server: Server,
  limits: HttpLimits,
  connections: OpenConnections,
  onRefused: (address?: string) => void,
): void {
  const perAddress = createConnectionLimit(limits.maxConnectionsPerAddress);
  const message = `More than ${limits.maxConnectionsPerAddress} connections from one address; close some, or set HOOKYARD_MAX_CONNECTIONS_PER_ADDRESS`;
  const refusal = new ApiError(503, 'TOO_MANY_CONNECTIONS', message, undefined, { 'Retry-After': '1' });
  const serve = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
  server.removeAllListeners('connection');
  let lingering = 0;
  server.on('connection', (socket: Socket) => {
    if (perAddress.admit(socket)) {
      connections.add(socket);
      for (const listener of serve) listener.call(server, socket);
      return;
    }
    onRefused(socket.remoteAddress);
    if (lingering >= MAX_LINGERING) {
      socket.destroy();
      return;
    }
    lingering += 1;
    socket.once('close', () => {
      lingering -= 1;
    });
    socket.on('error', () => socket.destroy()).resume();
    end(socket, refusal, limits.lingerMs);
  });
}
