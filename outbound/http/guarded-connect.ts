// The connector of every outbound connection: it asks the address guard about the literal, about every address a name
// resolves to, and once more about the address the socket really has.
import dns from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { named, openError, ownWords } from '../../core/error-summary.ts';
import { refusalOf } from './address-guard.ts';
import { type AllowList, normalHost } from './allow-list.ts';
import { OwnSendError } from './send-errors.ts';

/** The guard refused an address; a retry would be refused again. */
class AddressRefusedError extends OwnSendError {
  override readonly name = 'AddressRefusedError';
  constructor(hostname: string, address: string, what: string) {
    const subject = normalHost(hostname) === address ? address : `${hostname} resolves to ${address}, which`;
    const refused = ownWords`Refused: ${named(subject)} is ${named(what)}; see HOOKYARD_DELIVERY_ALLOW`;
    super('ADDRESS_REFUSED', openError(refused));
  }
}

export type ResolvedAddress = { address: string; family: number };

/** Resolves a host name to all its addresses, A and AAAA. */
export type Resolve = (
  hostname: string,
  callback: (error: NodeJS.ErrnoException | null, addresses: ResolvedAddress[]) => void,
) => void;

/** The system's resolver, with the order of addresses left as it is. */
export const systemResolve: Resolve = (hostname, callback) => {
  dns.lookup(hostname, { all: true, order: 'verbatim' }, callback);
};

/**
 * Makes the connector for undici's clients; TLS is verified against the host name of the URL.
 * @param options.allow what the operator opened
 * @param options.connectTimeoutMs timeout of a connection attempt that no request waits for
 * @param options.resolve the resolver
 */
export function guardedConnector(options: {
  allow: AllowList;
  connectTimeoutMs: number;
  resolve: Resolve;
}): buildConnector.connector {
  const { allow } = options;
  const connect = buildConnector({
    allowH2: false,
    timeout: options.connectTimeoutMs,
    // A host with several addresses: half a second each before the next is tried too (RFC 8305 in spirit).
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 500,
    lookup: guardedLookup(allow, options.resolve),
  });
  return (target, callback) => {
    const host = target.hostname;
    const refusal = isIP(host) === 0 ? null : refusalOf(host, host, allow);
    if (refusal !== null) {
      // Never calls back before it returns, like a real connection.
      queueMicrotask(() => callback(new AddressRefusedError(host, host, refusal), null));
      return;
    }
    connect(target, (...outcome) => {
      if (outcome[0] !== null) {
        callback(outcome[0], null);
        return;
      }
      const socket = outcome[1];
      const wrongPeer = refusedPeer(socket, host, allow);
      if (wrongPeer === null) {
        callback(null, socket);
        return;
      }
      socket.destroy();
      callback(wrongPeer, null);
    });
  };
}

/** A `lookup` for sockets that fails when any address of the name is refused, and otherwise gives just the checked ones. */
function guardedLookup(allow: AllowList, resolve: Resolve): LookupFunction {
  return (hostname, lookupOptions, callback) => {
    resolve(hostname, (error, addresses) => {
      if (error !== null) {
        callback(error, []);
        return;
      }
      for (const { address } of addresses) {
        const refusal = refusalOf(address, hostname, allow);
        if (refusal !== null) {
          callback(new AddressRefusedError(hostname, address, refusal), []);
          return;
        }
      }
      const first = addresses[0];
      if (first === undefined) {
        callback(Object.assign(new Error(`No address for ${hostname}`), { code: 'ENOTFOUND', hostname }), []);
      } else if (lookupOptions.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

function refusedPeer(socket: Socket, host: string, allow: AllowList): AddressRefusedError | null {
  const peer = socket.remoteAddress;
  // A socket that is already closed again has no peer; its use fails by itself.
  if (peer === undefined) return null;
  const refusal = refusalOf(peer, host, allow);
  return refusal === null ? null : new AddressRefusedError(host, peer, refusal);
}
