// How many connections one client address may have open at a time.
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface ConnectionLimit {
  /**
   * Counts a new connection until it is closed.
   * @returns false when its address is at the limit; the connection is not counted then
   */
  admit(socket: Socket): boolean;
}

/** @param max open connections of one address */
export function createConnectionLimit(max: number): ConnectionLimit {
  const open = new Map<string, number>();
  return {
    admit(socket) {
      const client = clientOf(socket.remoteAddress ?? '');
      const count = open.get(client) ?? 0;
      if (count >= max) return false;
      open.set(client, count + 1);
      socket.once('close', () => {
        const left = (open.get(client) ?? 1) - 1;
        if (left === 0) open.delete(client);
        else open.set(client, left);
      });
      return true;
    },
  };
}

/**
 * The client behind an address: an IPv4 address itself (IPv4-mapped IPv6 too), or the /64 of an IPv6 address, which is what one
 * client is assigned (RFC 6177).
 */
export function clientOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : `${(parsed as ipaddr.IPv6).parts.slice(0, 4).join(':')}::/64`;
}
