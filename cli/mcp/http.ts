// MCP over HTTP, for clients that do not start the server themselves. Each request stands alone: there are no sessions
// that could pile up.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  createMcpHandler,
  localhostAllowedHostnames,
  type McpHttpHandler,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import getRawBody from 'raw-body';
import { hashToken } from '../../core/config/api-token.ts';
import { usage } from '../errors.ts';
import { createMcpServer } from './server.ts';
import type { Connect } from './tool.ts';

const PATH = '/mcp';
/** Bytes of a request. */
const MOST_BODY = 1024 * 1024;
/** Requests at a time, and among them streams that wait for changes, of which there are none here. */
const AT_ONCE = 32;
const STREAMS = 8;
const CONNECTIONS = 128;
const REQUEST_MS = 30_000;
/** What is under way when the process is asked to end gets so long. */
const GRACE_MS = 3000;

export interface HttpOptions {
  host: string;
  port: number;
  /** Names besides those of this machine by which it may be called. */
  allowedHosts: readonly string[];
  token: string;
}

export interface McpOverHttp {
  url: string;
  close(): Promise<void>;
}

export const newToken = (): string => randomBytes(32).toString('base64url');

/** @throws CliError when the port cannot be had */
export async function serveOverHttp(connect: Connect, canWrite: boolean, options: HttpOptions): Promise<McpOverHttp> {
  const handler = createMcpHandler(() => createMcpServer(connect, canWrite), {
    maxSubscriptions: STREAMS,
    onerror: ({ message }) => log(message),
  });
  const guard = { ...options, hosts: [...localhostAllowedHostnames(), nameOf(options.host), ...options.allowedHosts] };
  let underWay = 0;
  const server = createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
    const refusal = refusalOf(request, guard) ?? (underWay >= AT_ONCE ? BUSY : null);
    if (refusal !== null) return refuse(response, refusal);
    underWay += 1;
    response.once('close', () => {
      underWay -= 1;
    });
    void answer(handler, request, response);
  });
  server.maxConnections = CONNECTIONS;
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  return { url: `http://${nameOf(options.host)}:${port}${PATH}`, close: () => close(server, handler) };
}

const nameOf = (host: string) => (host.includes(':') ? `[${host}]` : host);

async function listen(server: Server, { host, port }: HttpOptions): Promise<void> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    throw usage(
      `Cannot listen on ${nameOf(host)}:${port} (${(error as Error).message}); choose another port with --port, or another address with --host`,
    );
  }
}

async function close(server: Server, handler: McpHttpHandler): Promise<void> {
  const closed = once(server, 'close');
  const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  server.close();
  await closed;
  clearTimeout(timer);
  await handler.close();
}

interface Refusal {
  status: number;
  message: string;
  headers?: Record<string, string>;
}

const BUSY: Refusal = {
  status: 503,
  message: 'Too many concurrent requests; try again in a moment',
  headers: { 'Retry-After': '1' },
};
const TOO_LARGE: Refusal = { status: 413, message: `The body must be at most ${MOST_BODY} bytes` };
const FAILED: Refusal = {
  status: 500,
  message: 'The Hookyard MCP server failed; see its log for the cause',
};
const forbidden = (why: string): Refusal => ({
  status: 403,
  message: `${why}; to accept another host name, start the server with --allow-host <name>`,
});

/** A page in a browser may neither call this under a name of its own (DNS rebinding) nor from an origin of its own. */
function refusalOf(
  { headers, url = '' }: IncomingMessage,
  { hosts, token }: HttpOptions & { hosts: string[] },
): Refusal | null {
  const host = validateHostHeader(headers.host, hosts);
  if (!host.ok) return forbidden(host.message);
  const origin = validateOriginHeader(headers.origin, hosts);
  if (!origin.ok) return forbidden(origin.message);
  if (url.split('?')[0] !== PATH) return { status: 404, message: `No such endpoint; MCP is at ${PATH}` };
  if (isToken(headers.authorization, token)) return null;
  return {
    status: 401,
    message:
      'Send Authorization: Bearer <token>, with the token printed by hookyard mcp --http, or the value of HOOKYARD_MCP_TOKEN',
    headers: { 'WWW-Authenticate': 'Bearer' },
  };
}

/** In a time that tells nothing of the token. */
function isToken(authorization: string | undefined, token: string): boolean {
  const sent = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  return sent !== undefined && timingSafeEqual(hashToken(sent), hashToken(token));
}

function refuse(response: ServerResponse, { status, message, headers = {} }: Refusal): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }));
}

async function answer(handler: McpHttpHandler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    const reply = await handler.fetch(await webRequest(request, gone.signal));
    response.writeHead(reply.status, Object.fromEntries(reply.headers));
    if (reply.body === null) response.end();
    else await pipeline(Readable.fromWeb(reply.body), response);
  } catch (error) {
    if (gone.signal.aborted) return;
    if (response.headersSent) return void response.destroy();
    const isTooLarge = (error as { type?: unknown }).type === 'entity.too.large';
    if (!isTooLarge) log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    // Who still sends would not see the answer if the rest were not read.
    request.resume();
    refuse(response, isTooLarge ? TOO_LARGE : FAILED);
  }
}

async function webRequest(request: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const { method = 'GET', url = PATH } = request;
  // The token is for this server alone.
  const { authorization: _token, ...passed } = request.headers;
  const headers = Object.entries(passed).map(([name, value]): [string, string] => [name, String(value)]);
  const length = request.headers['content-length'];
  const body = method === 'POST' ? await getRawBody(request, { limit: MOST_BODY, length }) : undefined;
  return new Request(new URL(url, 'http://localhost'), {
    method,
    headers,
    signal,
    ...(body && { body: new Uint8Array(body) }),
  });
}

const log = (text: string): void => void process.stderr.write(`hookyard: ${text}\n`);
