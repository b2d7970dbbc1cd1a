// How many connections, and requests through the operator's proxies, one client may have at a time; and which connections are
// kept for the management API.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { SharedCapacity } from '../../core/shared-capacity.ts';
import type { HttpLimits } from '../http-limits.ts';
import type { Peer } from './client-addresses.ts';

// No client may have more connections than are free.
const FACTOR = 1;

export class ConnectionLimits {
  readonly #max: number;
  readonly #perClient: number;
  readonly #ordinary: number;
  readonly #connections: SharedCapacity;
  readonly #forwarded: SharedCapacity;
  readonly #reserved = new WeakSet<Socket>();

  constructor({
    maxConnections,
    maxConnectionsPerAddress,
    managementConnections,
  }: Pick<HttpLimits, 'maxConnections' | 'maxConnectionsPerAddress' | 'managementConnections'>) {
    this.#max = maxConnections;
    this.#perClient = maxConnectionsPerAddress;
    this.#ordinary = maxConnections - managementConnections;
    this.#connections = new SharedCapacity(maxConnections);
    this.#forwarded = new SharedCapacity(maxConnections);
  }

  /** Whether there are as many connections as may be. */
  get isFull(): boolean {
    return this.#connections.used >= this.#max;
  }

  /**
   * Counts a new connection until it is closed. Those of the operator's proxies count in all only.
   * @returns false when the client has as many as it may; the connection is not counted then
   */
  admit(socket: Socket, { client, isProxy }: Peer): boolean {
    const give = this.#take(this.#connections, isProxy ? null : client);
    if (give === null) return false;
    socket.once('close', give);
    if (this.#connections.used > this.#ordinary) this.#reserved.add(socket);
    return true;
  }

  /**
   * Counts a request that a proxy has forwarded until it is answered.
   * @returns false when the client has as many under way as it may
   */
  admitForwarded(response: ServerResponse, client: string): boolean {
    const give = this.#take(this.#forwarded, client);
    if (give !== null) response.once('close', give);
    return give !== null;
  }

  /** Whether it is one of the last connections, which serve the management API only. */
  isReserved(socket: Socket): boolean {
    return this.#reserved.has(socket);
  }

  /** @returns what gives it back; null when there is none for this client */
  #take(capacity: SharedCapacity, client: string | null): (() => void) | null {
    const holders = client === null ? [] : [{ name: client, factor: FACTOR }];
    if (client !== null && capacity.heldBy(client) >= this.#perClient) return null;
    return capacity.take(1, holders) ? () => capacity.give(1, holders) : null;
  }
}
