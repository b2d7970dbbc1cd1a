// What can go wrong while a request is sent, as one sentence that an operator can act on.

/** Why there is no response. `retryable` is false when the same request would fail the same way again. */
export type SendError = { code: string; message: string; retryable: boolean };

/** The deadline of a request passed. */
export class TimeoutError extends Error {
  readonly code = 'TIMEOUT';
  constructor(timeoutMs: number) {
    super(`Timed out after ${timeoutMs} ms`);
    this.name = 'TimeoutError';
  }
}

// Our own refusals and undici's: the request itself is wrong, not the network or the destination.
const NOT_RETRYABLE: ReadonlySet<string> = new Set([
  'ADDRESS_REFUSED',
  'INVALID_URL',
  'UND_ERR_INVALID_ARG',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
]);

// Errors whose own message is already that sentence.
const OWN_SENTENCE: ReadonlySet<string> = new Set(['ADDRESS_REFUSED', 'INVALID_URL', 'TIMEOUT']);

const NAME_CODES: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NONAME',
  'EAI_NODATA',
  'ENODATA',
  'ESERVFAIL',
]);
const CLOSED_CODES: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'UND_ERR_SOCKET',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);
const UNREACHABLE_CODES: ReadonlySet<string> = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
]);
const CONNECT_TIMEOUT_CODES: ReadonlySet<string> = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']);

// The codes of OpenSSL's certificate checks have no common form; those of Node's TLS do.
const TLS_CODE = /^ERR_TLS_|^ERR_SSL_|^CERT_|_CERT|SELF_SIGNED|UNABLE_TO_|^EPROTO$|^HOSTNAME_MISMATCH$|^INVALID_CA$/;

/** Describes an error of a request to `url`. */
export function describeError(error: unknown, url: string): SendError {
  const root = rootOf(error);
  const code = codeOf(root);
  return { code, message: sentence(root, code, URL.parse(url)), retryable: !NOT_RETRYABLE.has(code) };
}

/** The error that tells most: with several addresses tried, undici and Node give one error that holds one for each. */
function rootOf(error: unknown): Error {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0];
  if (error instanceof Error && codeOf(error) === 'UND_ERR_SOCKET' && error.cause instanceof Error) return error.cause;
  return error instanceof Error ? error : new Error(String(error));
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN';
}

function sentence(error: Error, code: string, url: URL | null): string {
  const host = url?.hostname ?? 'the destination';
  if (OWN_SENTENCE.has(code)) return error.message;
  if (code === 'ECONNREFUSED') return `Connection refused by ${peerOf(error) ?? url?.host ?? host}`;
  if (NAME_CODES.has(code)) return `The host name ${host} could not be resolved`;
  if (CLOSED_CODES.has(code)) return `${host} closed the connection before the response was complete`;
  if (UNREACHABLE_CODES.has(code)) return `No route to ${peerOf(error) ?? host}`;
  if (CONNECT_TIMEOUT_CODES.has(code)) return `No connection to ${url?.host ?? host} could be made in time`;
  if (error.name === 'HTTPParserError') return `${host} sent something that is no valid HTTP response`;
  if (TLS_CODE.test(code)) return `TLS with ${host} failed: ${gist(error.message)} (${code})`;
  return `The request to ${host} failed: ${gist(error.message)}${code === 'UNKNOWN' ? '' : ` (${code})`}`;
}

function peerOf(error: Error): string | null {
  if (!('address' in error) || typeof error.address !== 'string') return null;
  const address = error.address.includes(':') ? `[${error.address}]` : error.address;
  return 'port' in error ? `${address}:${error.port}` : address;
}

/** What a library says, without the advice to developers that may follow it. */
function gist(text: string): string {
  return text.split(/[\n;]/, 1)[0] ?? '';
}
