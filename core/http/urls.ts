// The addresses that users give for what Hookyard sends.

export const MAX_URL_LENGTH = 2048;
export const URL_HAS_CREDENTIALS = 'must not contain credentials';

/** Why a text is no address that requests can be sent to, or null. */
export function urlProblem(text: string): string | null {
  const example = 'for example https://example.com/hooks';
  if (text.length > MAX_URL_LENGTH) return `must be at most ${MAX_URL_LENGTH} characters long`;
  // The URL parser would drop spaces and line breaks silently.
  if (/[\s\p{Cc}]/u.test(text)) return 'must not contain spaces or control characters';
  const url = URL.parse(text);
  if (!url || !/^https?:\/\//i.test(text)) return `must be an absolute http:// or https:// URL, ${example}`;
  if (url.username !== '' || url.password !== '') return URL_HAS_CREDENTIALS;
  return null;
}

export const originOf = (text: string): string | null => URL.parse(text)?.origin ?? null;

// `host:port`, with an IPv6 address in brackets.

export interface HostAndPort {
  /** In lower case, an IPv6 address without its brackets. */
  host: string;
  port: number;
}

/** Null when the text is nothing like it, or the port is none. */
export function hostAndPort(text: string): HostAndPort | null {
  const [, host, digits] = /^(\[[0-9a-f:.%]+\]|[^\s:/@[\]]+):(\d{1,5})$/i.exec(text) ?? [];
  const port = Number(digits);
  if (host === undefined || port < 1 || port > 65_535) return null;
  return { host: host.replace(/^\[|\]$/g, '').toLowerCase(), port };
}

/** Whether an entry of HOOKYARD_DELIVERY_ALLOW, `!host:port`, keeps destinations from one port. */
export const isDenied = (entry: string): boolean => entry.startsWith('!');

// Whether an address leads back to this installation, so that what is delivered there comes in again as a webhook.

/**
 * Looks for addresses under a base address: the same host and port, and a path below that of the base. All names and
 * addresses of loopback are one host. The scheme does not matter between http and https on their own ports: one server
 * has both.
 * @param base `HOOKYARD_PUBLIC_URL`
 */
export function addressesUnder(base: string): (address: string) => boolean {
  const own = URL.parse(base);
  if (own === null) return () => false;
  const folder = plainPath(own.pathname).replace(/\/*$/, '/');
  return (address) => {
    const url = URL.parse(address);
    if (url === null || hostOf(url) !== hostOf(own) || !isSamePort(url, own)) return false;
    return `${plainPath(url.pathname)}/`.startsWith(folder);
  };
}

const LOOPBACK =
  /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:(?:7f[\da-f]{2}:[\da-f]{1,4}|0:0)\])$/;

function hostOf({ hostname }: URL): string {
  const host = hostname.replace(/\.$/, '');
  return LOOPBACK.test(host) ? 'localhost' : host;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };
const portOf = ({ port, protocol }: URL): string => port || (DEFAULT_PORTS[protocol] ?? '');
const isSamePort = (one: URL, other: URL): boolean =>
  portOf(one) === portOf(other) || (one.port === '' && other.port === '');

/** A path as a proxy may read it: decoded, without repeated slashes. */
function plainPath(path: string): string {
  try {
    return decodeURIComponent(path).replace(/\/+/g, '/');
  } catch {
    return path;
  }
}
