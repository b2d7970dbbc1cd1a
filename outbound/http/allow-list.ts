// `HOOKYARD_DELIVERY_ALLOW`: what an operator opens in the address guard.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isDenied } from '../../core/http/host-and-port.ts';
import { LOOPBACK_FOR_ONE, LOOPBACK_HOSTS } from '../../core/config/loopback-default.ts';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A parsed allow list; see `parseAllowList`. */
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
    if (isIP(text) !== 0) addresses.add(normalForm(text));
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
  // core/http/own-services.ts has those that deny.
  const lasting = entries.filter((entry) => entry !== LOOPBACK_FOR_ONE && !isDenied(entry));
  const shared = parseAllowList(lasting);
  if (!entries.includes(LOOPBACK_FOR_ONE)) return () => shared;
  const alone = { ...parseAllowList([...lasting, ...LOOPBACK_HOSTS]), thisMachine: true };
  return () => (several() ? shared : alone);
}

/** An address in the one form it is compared in: IPv6 compressed, IPv4-mapped IPv6 as the IPv4 address it stands for. */
function normalForm(address: string): string {
  return ipaddr.process(address).toString();
}

/** A host as it is compared: lower case, without the brackets of an IPv6 literal and the dot of a rooted name. */
export function normalHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}

/** Whether the list names this address or this host itself, the only way to open a forbidden address. */
export function opensExactly(allow: AllowList, address: string, host: string): boolean {
  return allow.addresses.has(address) || allow.hosts.has(host);
}

/** Whether a range or a suffix of the list covers the address or the host, which opens private addresses. */
export function opensByRange(allow: AllowList, address: Address, host: string): boolean {
  if (allow.suffixes.some((suffix) => host.endsWith(suffix))) return true;
  return allow.ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}
