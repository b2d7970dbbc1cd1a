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
