// The addresses of this machine, whose programs often trust whoever is on it, or are kept from others by a firewall only.
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { normalForm } from './address-forms.ts';

// Asking the system takes a tenth of a millisecond, and a connection asks several times.
const FRESH_MS = 10_000;

let known: ReadonlySet<string> = new Set();
let askedAt = Number.NEGATIVE_INFINITY;

/** Loopback, unspecified addresses, which reach this machine too, and those of its interfaces. @param address in its normal form */
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
