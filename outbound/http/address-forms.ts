// Addresses that are one, whatever their form is.
import ipaddr from 'ipaddr.js';
import type { Address } from './allow-list.ts';

const NAT64 = ipaddr.parseCIDR('64:ff9b::/96');

/** The form that is compared: IPv4-mapped IPv6 and NAT64 as IPv4, IPv6 compressed, without the zone of a link-local address. */
export function normalForm(address: string): string {
  const withoutZone = address.replace(/%.*$/, '');
  if (!ipaddr.isValid(withoutZone)) return withoutZone;
  const parsed = ipaddr.process(withoutZone);
  return (nat64Target(parsed) ?? parsed).toString();
}

/** The IPv4 address that a NAT64 address (RFC 6052) leads to: how an IPv6-only network reaches IPv4 hosts. */
export function nat64Target(address: Address): ipaddr.IPv4 | null {
  if (address.kind() === 'ipv4' || !address.match(NAT64)) return null;
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}
