// How many connections, and requests through the operator's proxies, one client may have at a time; and which connections are
// kept for the management API.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { FairQueue, type Leave } from '../../core/fairness/fair-queue.ts';
import type { HttpLimits } from './http-limits.ts';
import type { Peer } from './client-addresses.ts';

// No client may have more connections than it leaves free.
const TIMES_FREE = 1;
// The operator's proxies together.
const PROXIES = 'proxies';

export class ConnectionLimits {
  readonly #perClient: number;
  readonly #ordinary: number;
  /** By client. */
  readonly #connections: FairQueue;
  readonly #forwarded: FairQueue;
  readonly #reserved = new WeakSet<Socket>();

  constructor({
    maxConnections,
    maxConnectionsPerAddress,
    managementConnections,
  }: Pick<HttpLimits, 'maxConnections' | 'maxConnectionsPerAddress' | 'managementConnections'>) {
    this.#perClient = maxConnectionsPerAddress;
    this.#ordinary = maxConnections - managementConnections;
    this.#connections = new FairQueue(maxConnections, TIMES_FREE);
    this.#forwarded = new FairQueue(maxConnections, TIMES_FREE);
  }

  /** Whether there are as many connections as may be. */
  get isFull(): boolean {
    return this.#connections.isFull;
  }

  /**
   * Counts a new connection until it is closed. Those of the operator's proxies count in all only.
   * @returns false when the client has as many as it may; the connection is not counted then
   */
  admit(socket: Socket, { client, isProxy }: Peer): boolean {
    const leave = isProxy ? this.#takeForProxy() : this.#take(this.#connections, client);
    if (leave === null) return false;
    socket.once('close', leave);
    if (this.#connections.held > this.#ordinary) this.#reserved.add(socket);
    return true;
  }

  /**
   * Counts a request that a proxy has forwarded until it is answered.
   * @returns false when the client has as many under way as it may
   */
  admitForwarded(response: ServerResponse, client: string): boolean {
    const leave = this.#take(this.#forwarded, client);
    if (leave !== null) response.once('close', leave);
    return leave !== null;
  }

  /** Whether it is one of the last connections, which serve the management API only. */
  isReserved(socket: Socket): boolean {
    return this.#reserved.has(socket);
  }

  #takeForProxy(): Leave | null {
    return this.isFull ? null : this.#connections.enter(PROXIES);
  }

  /** @returns null when there is none for this client */
  #take(places: FairQueue, client: string): Leave | null {
    return places.heldBy(client) < this.#perClient ? places.takeNow(client) : null;
  }
}
