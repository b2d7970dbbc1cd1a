// The addresses of a few names, as answers of the last hour have told them: a name with many addresses may get another part of
// them, or another one, with each answer.
import type { Resolve } from './guarded-connect.ts';

// Addresses behind a name change rarely; those of a server that moved are known again after this time.
const FRESH_MS = 30_000;
const KEPT_MS = 3_600_000;
const MAX_ADDRESSES = 64;

interface Name {
  /** When each one was last in an answer, the latest last. */
  addresses: ReadonlyMap<string, number>;
  askedAt: number;
  asking: Promise<void>;
}

export interface KnownAddresses {
  /** Asks again when the last answer is old. Never rejects. */
  lookUp(host: string): Promise<void>;
  /** @returns none while the name has never been resolved */
  of(host: string): string[];
}

/** @param normalForm the form in which addresses are kept @param now in ms */
export function createKnownAddresses(
  resolve: Resolve,
  normalForm: (address: string) => string,
  now: () => number,
): KnownAddresses {
  const names = new Map<string, Name>();

  async function ask(host: string): Promise<void> {
    const found = await answer(host, resolve);
    const name = names.get(host);
    // Failure policy: a name that cannot be resolved keeps the addresses it had.
    if (name && found.length > 0) name.addresses = withAnswer(name.addresses, found.map(normalForm), now());
  }

  return {
    lookUp(host) {
      const name = names.get(host);
      if (name !== undefined && now() - name.askedAt < FRESH_MS) return name.asking;
      const asked: Name = { addresses: new Map(), ...name, askedAt: now(), asking: Promise.resolve() };
      names.set(host, asked);
      asked.asking = ask(host);
      return asked.asking;
    },
    of: (host) => [...(names.get(host)?.addresses.keys() ?? [])],
  };
}

function withAnswer(before: ReadonlyMap<string, number>, found: string[], at: number): Map<string, number> {
  const latest = new Set(found);
  const earlier = [...before].filter(([address, seenAt]) => !latest.has(address) && at - seenAt < KEPT_MS);
  const room = Math.max(0, MAX_ADDRESSES - latest.size);
  const kept = earlier.slice(Math.max(0, earlier.length - room));
  return new Map([...kept, ...[...latest].map((address) => [address, at] as const)]);
}

function answer(host: string, resolve: Resolve): Promise<string[]> {
  return new Promise((done) => {
    resolve(host, (error, addresses) => done(error === null ? addresses.map(({ address }) => address) : []));
  });
}
