// Ranges of client addresses: where an API key may be used from.
// Rules: AUTH-18.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
/** An address and how many of its first bits count. */
type Range = readonly [Address, number];

/** A range or a single address in its one form (`10.0.0.0/8`, `192.0.2.7/32`); null for any other text. */
export function normalRange(text: string): string | null {
  const range = parseRange(text.trim());
  if (!range) return null;
  const [address, bits] = range;
  const family = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${family.networkAddressFromCIDR(`${address.toString()}/${bits}`).toString()}/${bits}`;
}

/** Whether an address is in one of the ranges. An IPv4-mapped IPv6 address counts as the IPv4 address. */
export function isInRanges(address: string, ranges: readonly string[]): boolean {
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

function covers(outer: Range | null, [address, bits]: Range): boolean {
  if (!outer) return false;
  const [base, baseBits] = outer;
  return base.kind() === address.kind() && baseBits <= bits && address.match(base, baseBits);
}

function parseRange(text: string): Range | null {
  const [address = '', bits, ...rest] = text.split('/');
  // Node's check, because ipaddr.js takes `10.1` and `0x0a000001` for addresses, too. Without the zone of a link-local one.
  const bare = address.split('%')[0] ?? '';
  if (rest.length > 0 || isIP(bare) === 0) return null;
  const given = ipaddr.parse(bare);
  const whole = given.kind() === 'ipv4' ? 32 : 128;
  if (bits !== undefined && !/^\d{1,3}$/.test(bits)) return null;
  const length = bits === undefined ? whole : Number(bits);
  if (length > whole) return null;
  if (given instanceof ipaddr.IPv6 && given.isIPv4MappedAddress() && length >= 96) {
    return [given.toIPv4Address(), length - 96];
  }
  return [given, length];
}
