// IP addresses and ranges of them, in one spelling.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

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
