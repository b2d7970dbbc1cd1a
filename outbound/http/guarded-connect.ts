// The connector of every outbound connection: it asks the address guard about the literal, about every address a name
// resolves to, and once more about the address the socket really has.
import { AsyncLocalStorage } from 'node:async_hooks';
import dns from 'node:dns';
import { isIP, type LookupFunction, Socket } from 'node:net';
import { DEFAULT_CIPHERS } from 'node:tls';
import { buildConnector } from 'undici';
import { FairQueue, type Leave } from '../../core/fairness/fair-queue.ts';
import { named, openError, ownWords } from '../../core/text/error-summary.ts';
import { type AllowList, currentAllowList, type IsOfThisMachine, normalHost, refusalOf } from './address-guard.ts';
import { addressesOf, createOwnServices, type OwnServices } from './protected-services.ts';
import { type Connection, watchSocket } from './pools.ts';
import { OwnSendError } from './send-errors.ts';

/** Of an address that the guard refuses; a retry would be refused again. */
function addressRefused(hostname: string, address: string, what: string): OwnSendError {
  const subject = normalHost(hostname) === address ? address : `${hostname} resolves to ${address}, which`;
  const refused = ownWords`Refused: ${named(subject)} is ${named(what)}; see HOOKYARD_DELIVERY_ALLOW`;
  return new OwnSendError('ADDRESS_REFUSED', openError(refused));
}

/** As above, for a port that no setting opens. */
function ownService(hostname: string, port: number): OwnSendError {
  const refused = ownWords`Refused: port ${port} on ${named(hostname)} belongs to Hookyard itself, and cannot receive requests from it`;
  return new OwnSendError('ADDRESS_REFUSED', openError(refused));
}

/** It could be as above, which the next look-up may tell: a retry may succeed. */
function ownServiceUnresolved(hostname: string, port: number): OwnSendError {
  const refused = ownWords`Refused for now: port ${port} on ${named(hostname)} may belong to Hookyard itself, because the host name of a Hookyard service on this port cannot be resolved`;
  return new OwnSendError('OWN_SERVICE_UNRESOLVED', openError(refused));
}

export type ResolvedAddress = { address: string; family: number };

export type Resolve = (
  hostname: string,
  callback: (error: NodeJS.ErrnoException | null, addresses: ResolvedAddress[]) => void,
) => void;

/** The system's resolver, with the order of addresses left as it is. */
export const systemResolve: Resolve = (hostname, callback) => {
  dns.lookup(hostname, { all: true, order: 'verbatim' }, callback);
};

export interface Reach {
  allow: readonly string[];
  /** Whether there is more than one, which ends the entry `loopback-for-one-organization`; by default there is. */
  severalOrganizations?: () => boolean;
  /** Hookyard's own services; by default none. */
  own?: OwnServices;
  resolve?: Resolve;
  /**
   * Look-ups of those names, by turns of organizations; all that go out of a process share one. By default one of its
   * own.
   */
  lookUp?: LookUp;
  isOfThisMachine?: IsOfThisMachine;
}

/** @throws Error naming an entry of `allow` that cannot be read */
export function guardOptions(reach: Reach): Omit<GuardOptions, 'connectTimeoutMs'> & { resolve: Resolve } {
  const { allow, severalOrganizations = () => true, resolve = systemResolve, isOfThisMachine } = reach;
  return {
    isOfThisMachine,
    lookUp: reach.lookUp ?? createLookUps({ resolve }),
    allow: currentAllowList(allow, severalOrganizations),
    own: reach.own ?? createOwnServices([], resolve),
    resolve,
  };
}

export interface GuardOptions {
  allow: () => AllowList;
  /** What is refused whatever is open. */
  own: OwnServices;
  /** Timeout in ms of a connection attempt that no request waits for. */
  connectTimeoutMs: number;
  lookUp: LookUp;
  /** Undefined: what the system says. */
  isOfThisMachine?: IsOfThisMachine | undefined;
}

interface ConnectFor {
  organizationId: string;
  connection?: Connection;
}

export type GuardedConnector = (
  target: buildConnector.Options,
  callback: buildConnector.Callback,
  by: ConnectFor,
) => void;

export function guardedConnector(options: GuardOptions): GuardedConnector {
  const { own } = options;
  const connect = connectorWith(options, (address, host, port) => {
    if (own.include(host, address, port)) return ownService(host, port);
    const refusal = refusalOf(address, host, options.allow(), options.isOfThisMachine);
    if (refusal !== null) return addressRefused(host, address, refusal);
    return own.mayInclude(address, port) ? ownServiceUnresolved(host, port) : null;
  });
  return (target, callback, by) => {
    const port = portOf(target);
    if (!own.usePort(port)) return connect(target, callback, by);
    void own.prepare(port).then(() => {
      if (own.isNamed(target.hostname, port)) callback(ownService(target.hostname, port), null);
      else connect(target, callback, by);
    });
  };
}

type Judge = (address: string, host: string, port: number) => OwnSendError | null;

function portOf({ port, protocol }: buildConnector.Options): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}

// The server chooses the prime of an exchange over a finite field, and OpenSSL computes with any of up to 10,000 bits.
// TLS 1.3 has fixed ones, of which Node offers small ones only.
const CIPHERS = `${DEFAULT_CIPHERS}:!kDHE`;

function connectorWith(options: GuardOptions, judge: Judge): GuardedConnector {
  const connect = buildConnector({
    allowH2: false,
    timeout: options.connectTimeoutMs,
    ciphers: CIPHERS,
    // A host with several addresses: half a second each before the next is tried too (RFC 8305 in spirit).
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 500,
    lookup: guardedLookup(judge, options.lookUp),
  });
  return (target, callback, { organizationId, connection }) => {
    const [host, port] = [target.hostname, portOf(target)];
    const refused = isIP(host) === 0 ? null : judge(host, host, port);
    if (refused !== null) {
      // Never calls back before it returns, like a real connection.
      queueMicrotask(() => callback(refused, null));
      return;
    }
    if (connection) connection.beganAt = performance.now();
    // undici returns the socket, although its types do not say so. Without it the times would be missing, and nothing
    // else.
    const begin = (made: buildConnector.Callback): unknown =>
      connecting.run({ organizationId, port }, () => connect(target, made));
    const begun = begin((...outcome) => {
      if (outcome[0] !== null) {
        callback(outcome[0], null);
        return;
      }
      const socket = outcome[1];
      if (connection && target.protocol === 'https:') connection.securedAt = performance.now();
      // A socket that is already closed again has no peer; its use fails by itself.
      const wrongPeer = socket.remoteAddress === undefined ? null : judge(socket.remoteAddress, host, port);
      if (wrongPeer === null) {
        callback(null, socket);
        return;
      }
      socket.destroy();
      callback(wrongPeer, null);
    });
    if (connection && begun instanceof Socket) watchSocket(begun, connection);
  };
}

// Of a connection that is begun: the options of a socket's `lookup` have no room for it.
const connecting = new AsyncLocalStorage<{ organizationId: string; port: number }>();

/**
 * A `lookup` for sockets that fails when any address of the name is refused, and otherwise gives just the checked ones.
 */
function guardedLookup(judge: Judge, lookUp: LookUp): LookupFunction {
  return (hostname, lookupOptions, callback) => {
    const connection = connecting.getStore();
    if (connection === undefined) return callback(new Error(`No connection to ${hostname} is in progress`), []);
    const { organizationId, port } = connection;
    const given = (addresses: ResolvedAddress[]): void => {
      for (const { address } of addresses) {
        const refused = judge(address, hostname, port);
        if (refused !== null) {
          callback(refused, []);
          return;
        }
      }
      const first = addresses[0];
      if (first === undefined) {
        callback(Object.assign(new Error(`No address was found for ${hostname}`), { code: 'ENOTFOUND', hostname }), []);
      } else if (lookupOptions.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    };
    lookUp(hostname, organizationId).then(given, (error: NodeJS.ErrnoException) => callback(error, []));
  };
}

// Look-ups of names that tenants chose. The system's resolver takes a thread for each, until a server answers or it
// gives up by itself; libuv has few, which the names of PostgreSQL, Temporal and the mail server need too. So
// organizations share the threads, and take turns.

// The system's resolver gives up after 5 to 40 s.
const WAIT_MS = 10_000;
const DEFAULT_THREADS = 4;
// Threads for the names of Hookyard's own services.
const KEPT_FREE = 2;

/** Resolves a name for an organization. @throws what the resolver says, or EAI_AGAIN when there is no answer in time */
export type LookUp = (hostname: string, organizationId: string) => Promise<ResolvedAddress[]>;

interface LookUpOptions {
  resolve: Resolve;
  slots?: number;
  waitMs?: number;
}

interface Caller {
  waits: boolean;
}

interface Running {
  since: number;
  answer: Promise<ResolvedAddress[]>;
}

export function createLookUps(options: LookUpOptions): LookUp {
  const { resolve, slots = lookUpSlots(process.env.UV_THREADPOOL_SIZE), waitMs = WAIT_MS } = options;
  const queue = new FairQueue(slots);
  const running = new Map<string, Running>();

  // The slot is that of a thread: it is given back when the resolver is done, however long others wait.
  function begin(hostname: string, leave: Leave): Running {
    const answer = addressesOf(hostname, resolve).finally(() => {
      running.delete(hostname);
      leave();
    });
    const begun = { since: performance.now(), answer };
    running.set(hostname, begun);
    return begun;
  }

  async function answerOf(hostname: string, organizationId: string, caller: Caller): Promise<ResolvedAddress[]> {
    const known = running.get(hostname);
    if (known !== undefined) {
      if (performance.now() - known.since >= waitMs) throw notInTime(hostname);
      return known.answer;
    }
    const leave = await queue.take(organizationId, { waitMs });
    if (leave === null) throw notInTime(hostname);
    // It may have begun for another one meanwhile, and who asked may wait no longer.
    const meanwhile = running.get(hostname);
    if (meanwhile === undefined && caller.waits) return begin(hostname, leave).answer;
    leave();
    return meanwhile?.answer ?? [];
  }

  return (hostname, organizationId) =>
    new Promise((found, failed) => {
      const caller = { waits: true };
      const deadline = setTimeout(() => {
        caller.waits = false;
        failed(notInTime(hostname));
      }, waitMs);
      void answerOf(hostname, organizationId, caller)
        .then(found, failed)
        .finally(() => clearTimeout(deadline));
    });
}

/** Of so many threads; libuv uses half of them for look-ups. @param threads as UV_THREADPOOL_SIZE says */
export function lookUpSlots(threads: string | undefined): number {
  const atOnce = Math.floor(((Number(threads) || DEFAULT_THREADS) + 1) / 2);
  return Math.max(1, atOnce - KEPT_FREE);
}

function notInTime(hostname: string): Error {
  return Object.assign(new Error(`The DNS lookup of ${hostname} timed out`), {
    code: 'EAI_AGAIN',
    hostname,
  });
}
