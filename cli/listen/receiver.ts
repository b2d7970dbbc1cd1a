// The receiver of hookyard listen: takes deliveries at an address that only its destination knows, and answers them; or
// passes each on to the program that is being developed, and its answer back, both byte by byte.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { deliveryAddress } from '../../core/delivery/delivery-url.ts';
import { type HeaderBytes, receivedHeaders, CONNECTION_HEADERS } from '../../core/http/headers.ts';
import { CliError, EXIT } from '../errors.ts';
import { nodeFetch, requestOf } from '../node-fetch.ts';

// The largest webhook that a service can be set to take.
const MAX_BODY_BYTES = 100 * 1024 * 1024;

// A receiver answers at once.
const ANSWERS_MS = 2000;

export interface Received {
  method: string;
  /** Of the address of the webhook: its path below the source, and its query; as received. */
  path: string;
  query: string;
  headers: HeaderBytes;
  body: Buffer;
}

export interface Reply {
  status: number;
  headers: string[];
  body: Buffer;
}

export const textReply = (status: number, text: string): Reply => ({
  status,
  headers: ['Content-Type', 'text/plain'],
  body: Buffer.from(text),
});

export interface LocalReceiver {
  port: number;
  /** The path at which requests are taken; any other is answered 404. */
  path: string;
  close(): Promise<void>;
}

/** @param port 0 chooses a free one @throws CliError when the port is taken */
export async function startReceiver(
  host: string,
  port: number,
  answer: (request: Received) => Promise<Reply>,
): Promise<LocalReceiver> {
  // Other programs and web pages can reach a port of this machine, but do not know this path.
  const path = `/hookyard-${randomBytes(12).toString('hex')}`;
  const server = createServer((request, response) => {
    const below = belowOf(request.url ?? '', path);
    if (below === null) return void response.writeHead(404).end();
    take(request, response, (received) => answer({ ...received, ...below })).catch((error: Error) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(error.message);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another program is using it; choose another port' : error.message;
      reject(new CliError(EXIT.usage, `Cannot listen on port ${port}: ${why}`));
    });
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    path,
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

/** The webhook that tests whether a receiver is reached; it is not shown as a delivery. */
export function probe(path: string): { listening: string } {
  return { listening: path };
}

export const PROBED: Reply = { status: 200, headers: [], body: Buffer.from('ok') };

/** Whether the receiver of a session still answers at its address on this machine. One that is stopped may continue. */
export async function isAnswering(receiver: string): Promise<boolean> {
  try {
    const response = await nodeFetch(receiver, {
      method: 'POST',
      body: JSON.stringify(probe(new URL(receiver).pathname)),
      signal: AbortSignal.timeout(ANSWERS_MS),
    });
    return response.status === PROBED.status && (await response.text()) === PROBED.body.toString();
  } catch (error) {
    return (error as Error).name === 'TimeoutError';
  }
}

/** What follows the path of the receiver in an address; null when it is another. */
function belowOf(target: string, path: string): Pick<Received, 'path' | 'query'> | null {
  const at = target.indexOf('?');
  const [whole, query] = at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)];
  if (whole !== path && !whole.startsWith(`${path}/`)) return null;
  return { path: whole.slice(path.length), query };
}

async function take(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: Omit<Received, 'path' | 'query'>) => Promise<Reply>,
): Promise<void> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) return void response.writeHead(413).end();
    parts.push(part);
  }
  const headers = receivedHeaders(request.rawHeaders);
  const reply = await answer({ method: request.method ?? 'POST', headers, body: Buffer.concat(parts) });
  response.writeHead(reply.status, reply.headers).end(reply.body);
}

const FORWARD_MS = 60_000;
/** Of an answer (RFC 9110, section 7.6.1), and the length, which is computed. */
const CONNECTION_HEADERS_OF_ANSWERS: ReadonlySet<string> = new Set([
  ...['connection', 'content-length', 'keep-alive', 'proxy-connection', 'trailer', 'transfer-encoding', 'upgrade'],
]);

export function forwardAddress(url: string, { path, query }: Pick<Received, 'path' | 'query'>) {
  return deliveryAddress({ url, forwardPath: true, forwardQuery: true }, { path, query });
}

/** Forwards a request; an address that does not answer gives 502, so that the delivery is tried again. */
export async function forward(
  { url, target }: ReturnType<typeof forwardAddress>,
  { method, headers, body }: Received,
): Promise<Reply> {
  try {
    const signal = AbortSignal.timeout(FORWARD_MS);
    const options = { method, headers: ofTheRequest(headers, body), signal, ...(target !== null && { path: target }) };
    const answer = await requestOf(new URL(url), options, body);
    const { statusCode: status = 502, rawHeaders } = answer;
    return { status, headers: ofTheAnswer(rawHeaders), body: await buffer(answer) };
  } catch (error) {
    return textReply(502, `${url} did not respond: ${reasonOf(error as Error)}`);
  }
}

/** Of several addresses of a name each has its reason. */
function reasonOf(error: Error): string {
  if (error instanceof AggregateError) return error.errors.map((each: Error) => each.message).join('; ');
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function ofTheRequest(headers: Record<string, string>, body: Buffer): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.has(name) && name !== 'proxy-connection');
  return { ...Object.fromEntries(kept), 'content-length': String(body.length) };
}

function ofTheAnswer(raw: readonly string[]): string[] {
  return raw.filter((_text, at) => !CONNECTION_HEADERS_OF_ANSWERS.has((raw[at - (at % 2)] ?? '').toLowerCase()));
}
