// The open connections of clients and their graceful end: no client may lose an answer, or be cut off during a request.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hangUp } from './client-errors.ts';

interface Connection {
  /** How many there have been. */
  requests: number;
  /** Incomplete answers, and when each request began. */
  underWay: Map<ServerResponse, number>;
  /** When the last request or answer ended, or the connection began (ms of `performance.now`). */
  restsSince: number;
  /** Bytes received by then: a connection that has received more is receiving a request. */
  bytesRead: number;
}

export class OpenConnections {
  readonly #open = new Map<Socket, Connection>();
  #draining = false;
  #added = 0;

  /** Whether answers carry `Connection: close`. */
  get draining(): boolean {
    return this.#draining;
  }

  /** How many there have been. */
  get added(): number {
    return this.#added;
  }

  /** Notes a connection, once. */
  add(socket: Socket): void {
    if (this.#open.has(socket)) return;
    this.#added += 1;
    this.#open.set(socket, { requests: 0, underWay: new Map(), restsSince: performance.now(), bytesRead: 0 });
    socket.once('close', () => this.#open.delete(socket));
  }

  /** Counts a request. @returns the requests of its connection so far, and the unanswered ones, both including this one */
  begin(request: IncomingMessage, response: ServerResponse): { requests: number; underWay: number } {
    const { socket } = request;
    const connection = this.#open.get(socket);
    // The client disconnected while its request waited to be read.
    if (connection === undefined) return { requests: 1, underWay: 1 };
    connection.requests += 1;
    connection.underWay.set(response, performance.now());
    const rests = () => {
      connection.restsSince = performance.now();
      connection.bytesRead = socket.bytesRead;
    };
    // The rest of a body may arrive after the answer.
    request.once('close', rests);
    response.once('close', () => {
      connection.underWay.delete(response);
      rests();
    });
    if (this.#draining) announceEnd(response);
    return { requests: connection.requests, underWay: connection.underWay.size };
  }

  /** How many requests of a connection have begun. */
  requestsOn(socket: Socket): number {
    return this.#open.get(socket)?.requests ?? 0;
  }

  /** From now on every answer ends its connection, including answers in progress. */
  drain(): void {
    this.#draining = true;
    for (const { underWay } of this.#open.values()) for (const response of underWay.keys()) announceEnd(response);
  }

  /** Ends connections with an answer that takes longer. */
  cutOff(afterMs: number): void {
    const before = performance.now() - afterMs;
    for (const [socket, { underWay }] of this.#open) {
      const [oldest] = underWay.values();
      if (oldest !== undefined && oldest < before) socket.destroy();
    }
  }

  /**
   * Ends connections that have been idle for the given time.
   * @param lingerMs how long a client may keep its side open
   */
  endResting(forMs: number, lingerMs: number): void {
    const now = performance.now();
    for (const [socket, { underWay, restsSince, bytesRead }] of this.#open) {
      const rests = underWay.size === 0 && socket.bytesRead === bytesRead && now - restsSince >= forMs;
      if (rests) hangUp(socket, lingerMs);
    }
  }
}

/** The client sends nothing more on this connection, and Node closes it after the answer (RFC 9112, section 9.6). */
function announceEnd(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
