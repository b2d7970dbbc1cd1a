// Who sends a request: the address behind the operator's own proxies. What others say about addresses is never
// believed.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type AddressRange, clientOf, inRanges, normalAddress } from '../../core/http/addresses.ts';

export interface ProxyTrust {
  proxies: readonly AddressRange[];
}

export const NO_PROXIES: ProxyTrust = { proxies: [] };

export interface Peer {
  address: string;
  /** By what it is counted: an IPv4 address, or the /64 of an IPv6 address. */
  client: string;
  /** It is one of the operator's proxies, and its X-Forwarded-For is believed. */
  isProxy: boolean;
}

export type ClientAddress = Omit<Peer, 'isProxy'>;

const peers = new WeakMap<Socket, Peer>();

export function setPeer(socket: Socket, address: string, trust: ProxyTrust): Peer {
  const normal = normalAddress(address) ?? address;
  const peer = { address: normal, client: clientOf(normal), isProxy: inRanges(normal, trust.proxies) };
  peers.set(socket, peer);
  return peer;
}

export function peerOf(socket: Socket): Peer {
  return peers.get(socket) ?? setPeer(socket, socket.remoteAddress ?? '', NO_PROXIES);
}

/**
 * Whom a request comes from: the peer, or the nearest address in X-Forwarded-For that is none of the operator's
 * proxies.
 */
export function clientAddressOf(request: IncomingMessage, trust: ProxyTrust): ClientAddress {
  const peer = peerOf(request.socket);
  const forwarded = request.headers['x-forwarded-for'];
  if (!peer.isProxy || forwarded === undefined) return peer;
  const address = nearestStranger(String(forwarded), trust) ?? peer.address;
  return { address, client: clientOf(address) };
}

/**
 * Each proxy appends the address that it sees, so only what stands right of the first stranger was written by trusted
 * ones.
 * @returns the rightmost address that is no proxy; the leftmost one before a text that is no address; null without any
 */
function nearestStranger(forwarded: string, { proxies }: ProxyTrust): string | null {
  let nearest: string | null = null;
  for (const text of forwarded.split(',').reverse()) {
    const address = forwardedAddress(text.trim());
    if (address === null) return nearest;
    nearest = address;
    if (!inRanges(address, proxies)) return nearest;
  }
  return nearest;
}

/** An address as proxies write it, some of them with a port: `192.0.2.1:1234`, `[2001:db8::1]:1234`. */
function forwardedAddress(text: string): string | null {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1];
  return normalAddress(bare ?? text);
}
