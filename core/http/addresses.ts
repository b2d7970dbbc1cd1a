// Where Hookyard's own services listen, which destinations never reach (outbound/http/protected-services.ts); ranges of
// IP addresses; and what `npm start` allows.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Settings } from '../config/config.ts';
import { metricsPorts } from '../metrics/ports.ts';
import { type HostAndPort, hostAndPort, isDenied } from './urls.ts';

const THIS_MACHINE = 'localhost';
const POSTGRES_PORT = 5432;
const TEMPORAL_PORT = 7233;
const WEB_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
// A mail server listens on several, and takes its commands from anyone who connects.
const MAIL_PORTS = [25, 465, 587];

type Settled = Pick<
  Settings,
  | 'DATABASE_URL'
  | 'DATABASE_DIRECT_URL'
  | 'TEMPORAL_UI_URL'
  | 'SMTP_URL'
  | 'HOOKYARD_PORT'
  | 'HOOKYARD_HOST'
  | 'OTEL_EXPORTER_PROMETHEUS_PORT'
  | 'OTEL_EXPORTER_PROMETHEUS_HOST'
  | 'HOOKYARD_DELIVERY_ALLOW'
>;

/**
 * Everything the settings name: the API, the ports for metrics, PostgreSQL, Temporal, its UI, the mail server, and what
 * HOOKYARD_DELIVERY_ALLOW denies.
 * @param temporalAddress `host:port`, as the SDK reads it
 */
export function ownServices(settings: Settled, temporalAddress: string): HostAndPort[] {
  return [
    ...apiService(settings, settings.HOOKYARD_PORT),
    ...metricsPorts(settings).flatMap((port) =>
      apiService({ HOOKYARD_HOST: settings.OTEL_EXPORTER_PROMETHEUS_HOST }, port),
    ),
    ...database(settings.DATABASE_URL),
    ...database(settings.DATABASE_DIRECT_URL),
    hostAndPort(temporalAddress) ?? { host: temporalAddress, port: TEMPORAL_PORT },
    ...web(settings.TEMPORAL_UI_URL),
    ...mail(settings.SMTP_URL),
    ...settings.HOOKYARD_DELIVERY_ALLOW.filter(isDenied).map((entry) => hostAndPort(entry.slice(1))),
  ].filter((service) => service !== null);
}

/**
 * The API on the port it has bound; 0 is none. It listens on this machine, whichever of its addresses the setting
 * names.
 */
export function apiService({ HOOKYARD_HOST: host }: Pick<Settings, 'HOOKYARD_HOST'>, port: number): HostAndPort[] {
  return port === 0 ? [] : [THIS_MACHINE, host].map((name) => ({ host: name, port }));
}

/** A port of 127.0.0.1; 0 is none. */
export function onThisMachine(port: number): HostAndPort[] {
  return port === 0 ? [] : [{ host: THIS_MACHINE, port }];
}

/** A socket's folder in place of the host: the server may listen on this machine's ports too. */
function database(text: string | undefined): HostAndPort[] {
  const url = text === undefined ? null : URL.parse(text);
  if (url === null) return [];
  const host = url.searchParams.get('host') || bare(url.hostname);
  const port = Number(url.port || url.searchParams.get('port') || POSTGRES_PORT);
  return [{ host: host === '' || host.startsWith('/') ? THIS_MACHINE : decodeURIComponent(host), port }];
}

function web(text: string | undefined): HostAndPort[] {
  const url = text === undefined ? null : URL.parse(text);
  if (url === null) return [];
  return [{ host: bare(url.hostname), port: Number(url.port) || (WEB_PORTS[url.protocol] ?? 0) }];
}

function mail(text: string | undefined): HostAndPort[] {
  const url = text === undefined ? null : URL.parse(text);
  if (url === null) return [];
  const ports = url.port === '' ? MAIL_PORTS : [...MAIL_PORTS, Number(url.port)];
  return ports.map((port) => ({ host: bare(url.hostname), port }));
}

const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

// IP addresses and ranges of them, in one spelling.

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AddressRange = [Address, number];

/** Reads `10.0.0.0/8`, `2001:db8::/32`, or a single address, in any of its spellings. Null when it is none. */
export function parseRange(text: string): AddressRange | null {
  const [address = '', bits, ...rest] = text.split('/');
  // Node's check, because ipaddr.js takes `10.1` and `0x0a000001` for addresses, too. Without the zone of a link-local
  // one.
  const bare = address.split('%')[0] ?? '';
  if (rest.length > 0 || isIP(bare) === 0) return null;
  const given = ipaddr.parse(bare);
  const whole = given.kind() === 'ipv4' ? 32 : 128;
  if (bits !== undefined && !/^\d{1,3}$/.test(bits)) return null;
  const length = bits === undefined ? whole : Number(bits);
  if (length > whole) return null;
  if (given instanceof ipaddr.IPv6 && given.isIPv4MappedAddress() && length >= 96)
    return [given.toIPv4Address(), length - 96];
  return [given, length];
}

export function inRanges(text: string, ranges: readonly AddressRange[]): boolean {
  if (ranges.length === 0 || isIP(text) === 0) return false;
  const address = ipaddr.process(text);
  return ranges.some(([base, bits]) => address.kind() === base.kind() && address.match(base, bits));
}

/** An address in its one spelling: IPv4-mapped IPv6 is IPv4. Null when it is none. */
export function normalAddress(text: string): string | null {
  return isIP(text) !== 0 ? ipaddr.process(text).toString() : null;
}

/**
 * The client behind an address: an IPv4 address itself (IPv4-mapped IPv6 too), or the /64 of an IPv6 address, which is
 * what one client is assigned (RFC 6177).
 */
export function clientOf(address: string): string {
  if (isIP(address) === 0) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : `${(parsed as ipaddr.IPv6).parts.slice(0, 4).join(':')}::/64`;
}

/** A range or a single address in its one form (`10.0.0.0/8`, `192.0.2.7/32`); null for any other text. */
export function normalRange(text: string): string | null {
  const range = parseRange(text.trim());
  if (!range) return null;
  const [address, bits] = range;
  const family = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${family.networkAddressFromCIDR(`${address.toString()}/${bits}`).toString()}/${bits}`;
}

/** Whether an address is in one of the ranges. An IPv4-mapped IPv6 address counts as the IPv4 address. */
export function isAllowedFrom(address: string, ranges: readonly string[]): boolean {
  const own = parseRange(address);
  return own !== null && ranges.some((range) => covers(parseRange(range), own));
}

/** The first of these ranges that is in none of the others; undefined when all are. */
export function rangeBeyond(wanted: readonly string[], held: readonly string[]): string | undefined {
  return wanted.find((text) => {
    const inner = parseRange(text);
    return !inner || !held.some((range) => covers(parseRange(range), inner));
  });
}

function covers(outer: AddressRange | null, [address, bits]: AddressRange): boolean {
  if (!outer) return false;
  const [base, baseBits] = outer;
  return base.kind() === address.kind() && baseBits <= bits && address.match(base, baseBits);
}

// What `npm start` allows as destinations. On one machine the first receiver is usually on that machine; with a second
// organization its loopback is no place for strangers any more.

/** The entry of HOOKYARD_DELIVERY_ALLOW that opens loopback as long as there is one organization. */
export const LOOPBACK_FOR_ONE = 'loopback-for-one-organization';

export const LOOPBACK_HOSTS = ['127.0.0.1', '::1', 'localhost'];

/** For the log, once the entry has ended. */
export const LOOPBACK_ENDED = `there is more than one organization, so destinations on this machine (${LOOPBACK_HOSTS.join(', ')}) are refused; to allow them for every organization, set HOOKYARD_DELIVERY_ALLOW=${LOOPBACK_HOSTS.join(',')} and restart`;

/** For the log, once the entry is in force again. */
export const LOOPBACK_BACK = `there is one organization, so destinations on this machine (${LOOPBACK_HOSTS.join(', ')}) are allowed`;
