// What a client may ask of the HTTP server before any of our code runs. docs/security.md, "Network in", lists all of it.

/** Bytes of request line and headers together. */
export const MAX_HEADER_BYTES = 32 * 1024;
/** Header lines of a request. Node silently drops lines above its own limit; we refuse the request. */
export const MAX_HEADERS = 500;
/** Requests that a client may send ahead on one connection (pipelining). */
export const MAX_PIPELINED = 32;

export interface HttpLimits {
  /** From the opening of a connection, or the first byte of a further request, to the end of its headers, ms. */
  headersMs: number;
  /** ... to the end of its body. */
  requestMs: number;
  /** How long a connection may be idle between two requests, ms. */
  keepAliveMs: number;
  /** From the end of the headers to the last byte of the answer in the client's hands, ms. */
  answerMs: number;
  /** How often Node checks the first two timeouts, ms; a late connection is cut at most this much later. */
  checkEveryMs: number;
  /** How long a client may keep its side open after we ended the connection, ms. */
  lingerMs: number;
  /** Requests on one connection before it is closed, so that clients spread over the processes behind a balancer. */
  maxRequestsPerConnection: number;
  /** Open connections in total; further ones are closed without an answer. */
  maxConnections: number;
  /** Open connections per client address; further ones are answered 503 and closed. */
  maxConnectionsPerAddress: number;
  /** Of all connections, the last ones, which serve the management API only. */
  managementConnections: number;
  /** On these: to the end of the headers, ms. */
  managementHeadersMs: number;
}

/** What differs between processes: by a setting, and in tests. */
type ConnectionCounts = Pick<HttpLimits, 'maxConnections' | 'maxConnectionsPerAddress' | 'managementConnections'>;

/** Which part of all connections is kept for the management API. */
const MANAGEMENT_PART = 1 / 20;

export function connectionCounts(
  maxConnections: number,
  settings: { HOOKYARD_MAX_CONNECTIONS_PER_ADDRESS: number },
): ConnectionCounts {
  return {
    maxConnections,
    maxConnectionsPerAddress: settings.HOOKYARD_MAX_CONNECTIONS_PER_ADDRESS,
    managementConnections: Math.floor(maxConnections * MANAGEMENT_PART),
  };
}

export const HTTP_LIMITS: Omit<HttpLimits, keyof ConnectionCounts> = {
  headersMs: 20_000,
  requestMs: 60_000,
  // Longer than the usual 60 s idle timeout of load balancers, so that they close idle connections first.
  keepAliveMs: 65_000,
  // A body may take 60 s, and a test of a destination 60 s more (DEST-12).
  answerMs: 180_000,
  checkEveryMs: 5000,
  lingerMs: 5000,
  maxRequestsPerConnection: 10_000,
  managementHeadersMs: 5000,
};
