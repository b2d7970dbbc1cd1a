// The address guard: which addresses an outbound request may connect to. The public internet is open. Private networks
// are opened by the operator as a range, a host or a suffix; addresses of the machine itself, whatever their range is, of its link and of
// cloud metadata services only by an entry that names exactly them.
// Rules: DLV-24.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { nat64Target, normalForm } from './address-forms.ts';
import { type Address, type AllowList, normalHost, opensByRange, opensExactly } from './allow-list.ts';
import { isOfThisMachine } from './this-machine.ts';

/** What an address is: open, closed until a range opens it, or closed until named exactly. */
export type AddressClass = { tier: 'public' | 'private' | 'forbidden'; name: string };

const PUBLIC: AddressClass = { tier: 'public', name: 'a public address' };
const privateAddress = (name: string): AddressClass => ({ tier: 'private', name });
const forbidden = (name: string): AddressClass => ({ tier: 'forbidden', name });

const METADATA = forbidden('an address of a cloud metadata service');
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
  if (METADATA_RANGES.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))) {
    return METADATA;
  }
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
  return embedded.tier === 'public' ? PUBLIC : forbidden(`a NAT64 address that leads to ${embedded.name}`);
}

function isIPv4(address: Address): address is ipaddr.IPv4 {
  return address.kind() === 'ipv4';
}

/** Tells addresses of this machine, which are closed like loopback, whatever their range is. */
export type IsOfThisMachine = (address: string) => boolean;

/**
 * Judges one address of one host.
 * @param address the IP address to connect to
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
  if (opensExactly(allow, parsed.toString(), host)) return null;
  return tier === 'private' && opensByRange(allow, parsed, host) ? null : name;
}

/** Whether an address of a host may be connected to. */
export function isAllowedAddress(address: string, hostname: string, allow: AllowList): boolean {
  return refusalOf(address, hostname, allow) === null;
}
