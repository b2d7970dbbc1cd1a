// A network between two processes that can stop carrying bytes, in either direction, without closing connections.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  /** `host:port` to connect to instead of the target. */
  address: string;
  /** From now on nothing reaches the server; what clients send is kept from it. */
  holdRequests(): void;
  /** From now on no client hears from the server; with a text, no connection over which that is sent from now on. */
  holdAnswers(to?: string): void;
  /** Breaks every connection; new ones carry everything again. */
  breakConnections(): void;
  /** Breaks every connection; new ones lead to another `host:port`. */
  leadTo(target: string): void;
  /** Breaks every connection, and new ones at once, until `breakConnections`. */
  refuseConnections(): void;
  /** Connections that it has refused so far. */
  readonly refused: number;
  /** Whether something that clients sent since `holdRequests` contains the text. */
  isHolding(text: string): boolean;
  close(): Promise<void>;
}

/** @param target `host:port` @param ownPort where it listens; by default a free one */
export async function startTcpProxy(target: string, ownPort = 0): Promise<TcpProxy> {
  let [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  const held: Buffer[] = [];
  let requestsHeld = false;
  /** Of requests that contain this; '' holds all. */
  let answersHeldTo: string | undefined;
  let refusing = false;
  let refused = 0;
  const server = createServer((client) => {
    client.on('error', () => undefined);
    if (refusing) {
      refused += 1;
      client.destroy();
      return;
    }
    const upstream = connect(Number(port), host);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    let isDeaf = false;
    client.on('data', (bytes: Buffer) => {
      if (answersHeldTo && bytes.includes(answersHeldTo)) isDeaf = true;
      if (requestsHeld) held.push(bytes);
      else upstream.write(bytes);
    });
    upstream.on('data', (bytes: Buffer) => {
      if (!isDeaf && answersHeldTo !== '') client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(ownPort, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    holdRequests() {
      requestsHeld = true;
    },
    holdAnswers(to = '') {
      answersHeldTo = to;
    },
    refuseConnections() {
      refusing = true;
      for (const socket of sockets) socket.destroy();
    },
    leadTo(other) {
      [host = '', port = ''] = other.split(':');
      for (const socket of sockets) socket.destroy();
    },
    breakConnections() {
      refusing = false;
      requestsHeld = false;
      answersHeldTo = undefined;
      for (const socket of sockets) socket.destroy();
    },
    get refused() {
      return refused;
    },
    isHolding: (text) => Buffer.concat(held).includes(text),
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
