import ipaddr from 'ipaddr.js';
import { type AddressRange, parseRange } from './address-ranges.ts';

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

function covers(outer: AddressRange | null, [address, bits]: AddressRange): boolean {
  if (!outer) return false;
  const [base, baseBits] = outer;
  return base.kind() === address.kind() && baseBits <= bits && address.match(base, baseBits);
}
