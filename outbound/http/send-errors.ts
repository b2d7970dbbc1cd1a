// What can go wrong while a request is sent, as one sentence that an operator can act on, and whether it is tried
// again.
import { type DescribedError, type ErrorSummary, named, openError, ownWords } from '../../core/text/error-summary.ts';

/** Why there is no response. `retryable` is false when the same request would fail the same way again. */
export type SendError = DescribedError & { code: string; retryable: boolean };

/**
 * An error of our own, which is described already. Its message is the summary, so that nothing else leaves with it by
 * mistake.
 */
export class OwnSendError extends Error {
  override readonly name: string = 'OwnSendError';
  readonly code: string;
  readonly #described: DescribedError;
  constructor(code: string, described: DescribedError) {
    super(described.summary);
    this.code = code;
    this.#described = described;
  }

  get described(): DescribedError {
    return this.#described;
  }
}

// Our own refusals and undici's: the request itself is wrong, not the network or the destination.
const NOT_RETRYABLE: ReadonlySet<string> = new Set([
  'ADDRESS_REFUSED',
  'INVALID_URL',
  'UND_ERR_INVALID_ARG',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
]);

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

/** Whether the destination, though its address is known, did not take the request or did not answer it. */
export const isNoAnswer = (code: string): boolean =>
  code === 'TIMEOUT' || code === 'ECONNREFUSED' || CLOSED_CODES.has(code) || CONNECT_TIMEOUT_CODES.has(code);

export function errorClass(code: string): 'timeout' | 'connection' | 'dns' | 'tls' | 'refused' | 'other' {
  if (code === 'TIMEOUT' || CONNECT_TIMEOUT_CODES.has(code)) return 'timeout';
  if (NAME_CODES.has(code)) return 'dns';
  if (isNoAnswer(code) || UNREACHABLE_CODES.has(code)) return 'connection';
  if (NOT_RETRYABLE.has(code)) return 'refused';
  return TLS_CODE.test(code) ? 'tls' : 'other';
}

// The codes of OpenSSL's certificate checks have no common form; those of Node's TLS do.
const TLS_CODE = /^ERR_TLS_|^ERR_SSL_|^CERT_|_CERT|SELF_SIGNED|UNABLE_TO_|^EPROTO$|^HOSTNAME_MISMATCH$|^INVALID_CA$/;

// Its words name the hosts that the destination's certificate has; those of other codes are constants of OpenSSL and
// Node.
const WRONG_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';

export function describeError(error: unknown, url: string): SendError {
  const root = rootOf(error);
  const code = codeOf(root);
  return { code, ...describe(root, code, URL.parse(url)), retryable: !NOT_RETRYABLE.has(code) };
}

function rootOf(error: unknown): Error {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0];
  if (error instanceof Error && codeOf(error) === 'UND_ERR_SOCKET' && error.cause instanceof Error) return error.cause;
  return error instanceof Error ? error : new Error(String(error));
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN';
}

function describe(error: Error, code: string, url: URL | null): DescribedError {
  const host = named(url?.hostname ?? 'the destination');
  if (error instanceof OwnSendError) return error.described;
  const known = ownSentence(error, code, { host, origin: named(url?.host ?? host) });
  if (known !== null) return openError(known);
  if (TLS_CODE.test(code)) return describeTls(error, code, host);
  // A library may quote its input.
  const suffix = code === 'UNKNOWN' ? '' : ` (${code})`;
  return {
    summary: ownWords`The request to ${host} failed${named(suffix)}; see the details in the API`,
    detail: `The request to ${host} failed: ${gist(error.message)}${suffix}`,
  };
}

function describeTls(error: Error, code: string, host: ErrorSummary): DescribedError {
  const detail = `The TLS connection to ${host} failed: ${gist(error.message)} (${code})`;
  if (code !== WRONG_NAME) return openError(named(detail));
  return {
    summary: ownWords`The TLS connection to ${host} failed (${named(code)}); see the details in the API`,
    detail,
  };
}

/** Null for an error that only its own message explains. */
function ownSentence(
  error: Error,
  code: string,
  { host, origin }: { host: ErrorSummary; origin: ErrorSummary },
): ErrorSummary | null {
  if (code === 'ECONNREFUSED') return ownWords`Connection refused by ${peerOf(error) ?? origin}`;
  if (NAME_CODES.has(code)) return ownWords`The host name ${host} could not be resolved`;
  if (CLOSED_CODES.has(code)) return ownWords`${host} closed the connection before the response was complete`;
  if (UNREACHABLE_CODES.has(code)) return ownWords`No route to ${peerOf(error) ?? host}`;
  if (CONNECT_TIMEOUT_CODES.has(code)) return ownWords`The connection to ${origin} timed out`;
  if (error.name === 'HTTPParserError') return ownWords`${host} did not send a valid HTTP response`;
  return null;
}

function peerOf(error: Error): ErrorSummary | null {
  if (!('address' in error) || typeof error.address !== 'string') return null;
  const address = error.address.includes(':') ? `[${error.address}]` : error.address;
  return named('port' in error ? `${address}:${error.port}` : address);
}

/** What a library says, without the advice to developers that may follow it. */
function gist(text: string): string {
  return text.split(/[\n;]/, 1)[0] ?? '';
}
