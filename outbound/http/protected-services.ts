// Hookyard's own services as addresses that no destination may reach: who speaks to Temporal or PostgreSQL acts on
// every organization. An entry of HOOKYARD_DELIVERY_ALLOW does not open them.
import { isIP } from 'node:net';
import type { HostAndPort } from '../../core/http/urls.ts';
import { classifyAddress, isOfThisMachine, normalForm, normalHost } from './address-guard.ts';
import type { Resolve, ResolvedAddress } from './guarded-connect.ts';

export type OwnServices = ReturnType<typeof createOwnServices>;

// An address of the public internet serves many names on these ports (content delivery networks), so only the name
// counts there.
const SHARED_PORTS = [80, 443];

export function createOwnServices(
  first: readonly HostAndPort[],
  resolve: Resolve,
  now: () => number = () => performance.now(),
) {
  const byPort = new Map<number, Set<string>>();
  const known = createKnownAddresses(resolve, now);

  function add(services: readonly HostAndPort[]): void {
    for (const { host, port } of services) {
      const hosts = byPort.get(port) ?? new Set();
      byPort.set(port, hosts.add(normalHost(host)));
    }
  }

  function knownAddresses(host: string): readonly string[] {
    if (isIP(host) !== 0) return [normalForm(host)];
    const addresses = known.of(host);
    return addresses.length === 0 && host === 'localhost' ? ['127.0.0.1'] : addresses;
  }

  add(first);
  return {
    /** Whether one of them has this port; for every other port there is nothing to ask. */
    usePort: (port: number): boolean => byPort.has(port),
    /** Looks up what `include` compares with. Never rejects. */
    async prepare(port: number): Promise<void> {
      await Promise.all([...(byPort.get(port) ?? [])].filter((host) => isIP(host) === 0).map(known.lookUp));
    },
    isNamed: (host: string, port: number): boolean => byPort.get(port)?.has(normalHost(host)) ?? false,
    /** Whether a connection reaches one of them. @param address an IP address that the host stands for */
    include(host: string, address: string, port: number): boolean {
      const hosts = byPort.get(port);
      if (hosts === undefined) return false;
      if (hosts.has(normalHost(host))) return true;
      const asked = normalForm(address);
      const own = [...hosts].flatMap(knownAddresses);
      if (isOfThisMachine(asked)) return own.some(isOfThisMachine);
      const isShared = SHARED_PORTS.includes(port) && classifyAddress(asked).tier === 'public';
      return !isShared && own.includes(asked);
    },
    /**
     * Whether one of them could be there: its name has never been resolved, and the address is not of the public
     * internet.
     */
    mayInclude(address: string, port: number): boolean {
      const isUnresolved = [...(byPort.get(port) ?? [])].some((host) => knownAddresses(host).length === 0);
      const asked = normalForm(address);
      return isUnresolved && (classifyAddress(asked).tier !== 'public' || isOfThisMachine(asked));
    },
    add,
  };
}

// The addresses of a few names, as answers of the last hour have told them: a name with many addresses may get another
// part of them, or another one, with each answer.

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

/** Keeps addresses in their normal form. @param now in ms */
function createKnownAddresses(resolve: Resolve, now: () => number) {
  const names = new Map<string, Name>();

  async function ask(host: string): Promise<void> {
    const found = await addressesOf(host, resolve).catch(() => []);
    const name = names.get(host);
    // Failure policy: a name that cannot be resolved keeps the addresses it had.
    const addresses = found.map(({ address }) => normalForm(address));
    if (name && addresses.length > 0) name.addresses = withAnswer(name.addresses, addresses, now());
  }

  return {
    /** Asks again when the last answer is old. Never rejects. */
    lookUp(host: string): Promise<void> {
      const name = names.get(host);
      if (name !== undefined && now() - name.askedAt < FRESH_MS) return name.asking;
      const asked: Name = { addresses: new Map(), ...name, askedAt: now(), asking: Promise.resolve() };
      names.set(host, asked);
      asked.asking = ask(host);
      return asked.asking;
    },
    /** @returns none while the name has never been resolved */
    of: (host: string): string[] => [...(names.get(host)?.addresses.keys() ?? [])],
  };
}

function withAnswer(before: ReadonlyMap<string, number>, found: string[], at: number): Map<string, number> {
  const latest = new Set(found);
  const earlier = [...before].filter(([address, seenAt]) => !latest.has(address) && at - seenAt < KEPT_MS);
  const room = Math.max(0, MAX_ADDRESSES - latest.size);
  const kept = earlier.slice(Math.max(0, earlier.length - room));
  return new Map([...kept, ...[...latest].map((address) => [address, at] as const)]);
}

/** @throws what the resolver says */
export function addressesOf(hostname: string, resolve: Resolve): Promise<ResolvedAddress[]> {
  return new Promise((found, failed) => {
    resolve(hostname, (error, addresses) => (error === null ? found(addresses) : failed(error)));
  });
}
