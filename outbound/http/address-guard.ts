// The address guard: which addresses an outbound request may connect to. The public internet is open. Private networks
// are opened by the operator as a range, a host or a suffix; addresses of the machine itself, whatever their range is,
// of its link and of cloud metadata services only by an entry that names exactly them.
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { LOOPBACK_FOR_ONE, LOOPBACK_HOSTS } from '../../core/http/addresses.ts';
import { isDenied } from '../../core/http/urls.ts';

/** What an address is: open, closed until a range opens it, or closed until named exactly. */
export type AddressClass = { tier: 'public' | 'private' | 'forbidden'; name: string };

const PUBLIC: AddressClass = { tier: 'public', name: 'a public address' };
const privateAddress = (name: string): AddressClass => ({ tier: 'private', name });
const forbidden = (name: string): AddressClass => ({ tier: 'forbidden', name });

const METADATA = forbidden('a cloud metadata address');
const LOOPBACK = forbidden('a loopback address');
const LINK_LOCAL = forbidden('a link-local address');
const UNSPECIFIED = forbidden('an unspecified address');
const MULTICAST = forbidden('a multicast address');
const THIS_MACHINE = forbidden('an address of this machine');

// Metadata services outside the link-local range. Azure's wire server (168.63.129.16) is public by its range; Alibaba's
// lies in the carrier-grade NAT range, those of AWS (a whole /32 of services), Google, Oracle and Scaleway among the
// unique local addresses.
const METADATA_RANGES: readonly [Address, number][] = [
  '168.63.129.16/32',
  '100.100.100.200/32',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  'fd00:c1::a9fe:a9fe/128',
  'fd00:42::42/128',
].map((range) => ipaddr.parseCIDR(range));

// The names ipaddr.js gives to special IPv4 ranges (IANA's special-purpose registry). What is not here is forbidden.
const IPV4_RANGES: Readonly<Record<string, AddressClass>> = {
  unicast: PUBLIC,
  private: privateAddress('a private address'),
  carrierGradeNat: privateAddress('a carrier-grade NAT address'),
  loopback: LOOPBACK,
  linkLocal: LINK_LOCAL,
  unspecified: UNSPECIFIED,
  multicast: MULTICAST,
  broadcast: forbidden('the broadcast address'),
};

const IPV6_RANGES: Readonly<Record<string, AddressClass>> = {
  uniqueLocal: privateAddress('a private (unique local) address'),
  loopback: LOOPBACK,
  linkLocal: LINK_LOCAL,
  unspecified: UNSPECIFIED,
  multicast: MULTICAST,
};

const RESERVED = forbidden('a reserved address');
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/** Classifies an address. A text that is not an IP address is forbidden. */
export function classifyAddress(text: string): AddressClass {
  if (isIP(text) === 0) return forbidden('not an IP address');
  // `process` turns an IPv4-mapped address into the IPv4 address that the connection would really go to.
  const address = ipaddr.process(text);
  if (METADATA_RANGES.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits)))
    return METADATA;
  return isIPv4(address) ? (IPV4_RANGES[address.range()] ?? RESERVED) : classifyIPv6(address);
}

function classifyIPv6(address: ipaddr.IPv6): AddressClass {
  const embedded = nat64Target(address);
  if (embedded !== null) return classifyNat64(embedded);
  const range = address.range();
  // Only 2000::/3 is assigned as global unicast; the rest that bears no name (such as IPv4-compatible ::/96 and the
  // dummy prefix 100:0:0:1::/64) is reserved. 6to4 and Teredo carry an IPv4 address past the guard and are not in use.
  if (range === 'unicast') return address.match(GLOBAL_UNICAST) ? PUBLIC : RESERVED;
  return IPV6_RANGES[range] ?? RESERVED;
}

/** NAT64 is for public IPv4 hosts; it must not lead anywhere else. */
function classifyNat64(target: ipaddr.IPv4): AddressClass {
  const embedded = classifyAddress(target.toString());
  return embedded.tier === 'public' ? PUBLIC : forbidden(`a NAT64 address that maps to ${embedded.name}`);
}

function isIPv4(address: Address): address is ipaddr.IPv4 {
  return address.kind() === 'ipv4';
}

/** Tells addresses of this machine, which are closed like loopback, whatever their range is. */
export type IsOfThisMachine = (address: string) => boolean;

/**
 * Judges one address of one host.
 * @param hostname the host of the URL, as a name or as the address itself
 * @returns null when it may be connected to, else what it is: "a link-local address"
 */
export function refusalOf(
  address: string,
  hostname: string,
  allow: AllowList,
  isOwn: IsOfThisMachine = isOfThisMachine,
): string | null {
  const classified = classifyAddress(address);
  const own = classified.tier !== 'forbidden' && isOwn(normalForm(address));
  if (own && allow.thisMachine) return null;
  const { tier, name } = own ? THIS_MACHINE : classified;
  if (tier === 'public') return null;
  const host = normalHost(hostname);
  if (isIP(address) === 0) return name;
  const parsed = ipaddr.process(address);
  // Naming this address or this host itself is the only way to open a forbidden one.
  if (allow.addresses.has(parsed.toString()) || allow.hosts.has(host)) return null;
  return tier === 'private' && opensByRange(allow, parsed, host) ? null : name;
}

/**
 * What a URL leads to by its address, if it may not be connected to; else null. Names are looked up by each attempt
 * only, except localhost.
 */
export function refusedUrl(url: string, allow: AllowList): string | null {
  const host = normalHost(new URL(url).hostname);
  const address = host === 'localhost' ? '127.0.0.1' : host;
  return isIP(address) === 0 ? null : refusalOf(address, host, allow);
}

// Addresses that are one, whatever their form is.

const NAT64 = ipaddr.parseCIDR('64:ff9b::/96');

/**
 * The form that is compared: IPv4-mapped IPv6 and NAT64 as IPv4, IPv6 compressed, without the zone of a link-local
 * address.
 */
export function normalForm(address: string): string {
  const withoutZone = address.replace(/%.*$/, '');
  if (!ipaddr.isValid(withoutZone)) return withoutZone;
  const parsed = ipaddr.process(withoutZone);
  return (nat64Target(parsed) ?? parsed).toString();
}

/** The IPv4 address that a NAT64 address (RFC 6052) leads to: how an IPv6-only network reaches IPv4 hosts. */
function nat64Target(address: Address): ipaddr.IPv4 | null {
  if (address.kind() === 'ipv4' || !address.match(NAT64)) return null;
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}

// The addresses of this machine, whose programs often trust whoever is on it, or are kept from others by a firewall
// only.

// Asking the system takes a tenth of a millisecond, and a connection asks several times.
const FRESH_MS = 10_000;

let known: ReadonlySet<string> = new Set();
let askedAt = Number.NEGATIVE_INFINITY;

/**
 * Loopback, unspecified addresses, which reach this machine too, and those of its interfaces.
 * @param address in its normal form
 */
export function isOfThisMachine(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const range = ipaddr.parse(address).range();
  return range === 'loopback' || range === 'unspecified' || ofInterfaces().has(address);
}

function ofInterfaces(): ReadonlySet<string> {
  const now = performance.now();
  if (now - askedAt < FRESH_MS) return known;
  askedAt = now;
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  known = new Set(all.map(({ address }) => normalForm(address)));
  return known;
}

// `HOOKYARD_DELIVERY_ALLOW`: what an operator opens in the address guard.

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

export type AllowList = {
  /** Exact addresses in normal form: open that address, whatever it is. */
  addresses: ReadonlySet<string>;
  /** Exact host names in lower case: open whatever they resolve to. */
  hosts: ReadonlySet<string>;
  /** `.suffix`es in lower case: open private addresses for every name that ends so. */
  suffixes: readonly string[];
  /** Ranges: open the private addresses inside. */
  ranges: readonly [Address, number][];
  /** Whether every address of this machine is open. */
  thisMachine: boolean;
};

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

/**
 * Parses the entries of an allow list: addresses (`127.0.0.1`, `::1`), ranges (`10.0.0.0/8`), host names
 * (`crm.internal`) and suffixes (`.corp.example`, which is every name below it).
 * @throws Error naming the entry that is none of these
 */
export function parseAllowList(entries: readonly string[]): AllowList {
  const addresses = new Set<string>();
  const hosts = new Set<string>();
  const suffixes: string[] = [];
  const ranges: [Address, number][] = [];
  for (const entry of entries) {
    const text = entry.trim().toLowerCase();
    if (isIP(text) !== 0) addresses.add(ipaddr.process(text).toString());
    else if (ipaddr.isValidCIDR(text)) ranges.push(ipaddr.parseCIDR(text));
    else if (text.startsWith('.') && HOST_NAME.test(text.slice(1))) suffixes.push(text);
    else if (HOST_NAME.test(text) && !/^[\d.]+$/.test(text)) hosts.add(text);
    else throw new Error(`HOOKYARD_DELIVERY_ALLOW: "${entry}" is not an address, CIDR range, host name or .suffix`);
  }
  return { addresses, hosts, suffixes, ranges, thisMachine: false };
}

/**
 * The list in force, which changes when organizations come and go. Each of its two forms is always the same object.
 * @param several whether there is more than one organization
 * @throws Error as `parseAllowList` does
 */
export function currentAllowList(entries: readonly string[], several: () => boolean): () => AllowList {
  // core/http/addresses.ts has those that deny.
  const lasting = entries.filter((entry) => entry !== LOOPBACK_FOR_ONE && !isDenied(entry));
  const shared = parseAllowList(lasting);
  if (!entries.includes(LOOPBACK_FOR_ONE)) return () => shared;
  const alone = { ...parseAllowList([...lasting, ...LOOPBACK_HOSTS]), thisMachine: true };
  return () => (several() ? shared : alone);
}

/** A host as it is compared: lower case, without the brackets of an IPv6 literal and the dot of a rooted name. */
export function normalHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}

function opensByRange(allow: AllowList, address: Address, host: string): boolean {
  if (allow.suffixes.some((suffix) => host.endsWith(suffix))) return true;
  return allow.ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}
