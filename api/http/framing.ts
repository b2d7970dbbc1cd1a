// Rejects requests that Node's parser accepts although two servers could disagree on where they end or for which host they are. A
// proxy in front of Hookyard that reads them differently would forward a request that it never saw (request smuggling).
import type { IncomingMessage } from 'node:http';
import { MAX_HEADERS } from './http-limits.ts';

/** uri-host [ ":" port ] (RFC 9110, section 7.2; RFC 3986, section 3.2.2), without characters that no host name has. */
const HOST = /^(?:[A-Za-z0-9._~!$&'()*+;=%-]*|\[[0-9A-Fa-f:.]+\])(?::\d*)?$/;

export interface FramingProblem {
  status: 400 | 431;
  code: 'BAD_REQUEST' | 'HEADERS_TOO_LARGE';
  message: string;
}

const bad = (message: string): FramingProblem => ({ status: 400, code: 'BAD_REQUEST', message });

/** What is wrong with the framing of a request whose headers have been parsed, or null. */
export function framingProblem({ httpVersion, headers, rawHeaders, url = '' }: IncomingMessage): FramingProblem | null {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return bad('Only HTTP/1.1 and HTTP/1.0 are spoken here');
  // RFC 9112, section 3.2: an address of a request has none, and proxies differ in what they make of it.
  if (url.includes('#')) return bad('The address of a request has no #');
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    return { status: 431, code: 'HEADERS_TOO_LARGE', message: `A request has at most ${MAX_HEADERS} headers` };
  }
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) {
    // RFC 9112, section 6.1: HTTP/1.0 has none, whatever it says.
    if (httpVersion === '1.0') return bad('HTTP/1.0 has no Transfer-Encoding');
    if (coding.toLowerCase() !== 'chunked') return bad('The only Transfer-Encoding that is understood is chunked');
  }
  return hostProblem(httpVersion, headers.host, rawHeaders);
}

/** RFC 9112, section 3.2: exactly one Host in HTTP/1.1, and one that can be a host. */
function hostProblem(version: string, host: string | undefined, rawHeaders: string[]): FramingProblem | null {
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
 * The path and the query of a request whose address is absolute (RFC 9112, section 3.2.2), as they were received. URL parsers write them
 * anew.
 */
export function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const below = /^https?:\/\/[^/?]*(.*)$/is.exec(url)?.[1];
  if (below === undefined) return url;
  return below.startsWith('/') ? below : `/${below}`;
}
