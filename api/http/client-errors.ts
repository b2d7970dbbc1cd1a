// Answers requests that never reach the app (invalid HTTP, too many connections), in the shape of every other error.
// Rules: ERR-32 to ERR-34.
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { newId } from '../../core/text/ids.ts';
import { ApiError, errorBody } from '../request/errors.ts';
import { MAX_HEADER_BYTES } from './http-limits.ts';

// Codes of llhttp and of Node's server (Node manual, "clientError").
const KNOWN: Record<string, [status: number, code: string, message: string]> = {
  HPE_HEADER_OVERFLOW: [
    431,
    'HEADERS_TOO_LARGE',
    `The headers and the address must be at most ${MAX_HEADER_BYTES} bytes together`,
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'PAYLOAD_TOO_LARGE', 'The extensions of the chunks are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'REQUEST_TIMEOUT', 'The request did not arrive in time'],
};

/** Maps errors of Node's parser and its timeouts to answers. */
export function clientError(error: NodeJS.ErrnoException): ApiError {
  const known = KNOWN[error.code ?? ''];
  // The parser's reason is fixed text ("Invalid header token"), never what was sent.
  const reason = 'reason' in error && typeof error.reason === 'string' ? error.reason : 'it cannot be read';
  return known ? new ApiError(...known) : new ApiError(400, 'BAD_REQUEST', `This is no HTTP request: ${reason}`);
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
 * @param lingerMs how long the client may take to close its side: cut off at once, it might see a broken connection instead
 *   of the answer (RFC 9112, section 9.6), and without a limit it could keep the connection for ever
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

/** Closes a connection without a request. @param lingerMs as for `end`: a request may be on its way already */
export function hangUp(socket: Socket, lingerMs: number): void {
  if (!ended.has(socket)) endWith('', socket, lingerMs);
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
