// A network between two processes that can stop carrying bytes, in either direction, without closing connections.
import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';

export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>;

/** @param target `host:port` @param ownPort where it listens; by default a free one */
export async function startTcpProxy(target: string, ownPort = 0) {
  let [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  const held: Buffer[] = [];
  let requestsHeld = false;
  /** Of requests that contain this; '' holds all. */
  let answersHeldTo: string | undefined;
  /** Of what clients send. */
  let bytesLeft = Number.POSITIVE_INFINITY;
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
        // A server may close a connection with its answer, of which the client is not to hear either.
        if (answersHeldTo === '' && socket === upstream) return;
        client.destroy();
        upstream.destroy();
      });
    }
    let isDeaf = false;
    client.on('data', (bytes: Buffer) => {
      if (answersHeldTo && bytes.includes(answersHeldTo)) isDeaf = true;
      if (requestsHeld) held.push(bytes);
      else if (bytesLeft > 0) upstream.write(bytes);
      bytesLeft -= bytes.length;
    });
    upstream.on('data', (bytes: Buffer) => {
      if (!isDeaf && answersHeldTo !== '' && bytesLeft > 0) client.write(bytes);
    });
  });
  const { port: listeningPort, close } = await listen(server, '127.0.0.1', ownPort);
  return {
    /** `host:port` to connect to instead of the target. */
    address: `127.0.0.1:${listeningPort}`,
    /** From now on nothing reaches the server; what clients send is kept from it. */
    holdRequests() {
      requestsHeld = true;
    },
    /** No client hears from the server, nor that it has closed a connection; with a text: on whose connection it is sent. */
    holdAnswers(to = '') {
      answersHeldTo = to;
    },
    /** Lets so many bytes more reach the server, then nothing either way, until `breakConnections`. */
    stopAfter(bytes: number) {
      bytesLeft = bytes;
    },
    get isStopped() {
      return bytesLeft <= 0;
    },
    /** Breaks every connection, and new ones at once, until `breakConnections`. */
    refuseConnections() {
      refusing = true;
      for (const socket of sockets) socket.destroy();
    },
    /** Breaks every connection; new ones lead to another `host:port`. */
    leadTo(other: string) {
      [host = '', port = ''] = other.split(':');
      for (const socket of sockets) socket.destroy();
    },
    /** Breaks every connection; new ones carry everything again. */
    breakConnections() {
      refusing = false;
      requestsHeld = false;
      answersHeldTo = undefined;
      bytesLeft = Number.POSITIVE_INFINITY;
      for (const socket of sockets) socket.destroy();
    },
    /** Connections that it has refused so far. */
    get refused() {
      return refused;
    },
    /** Whether something that clients sent since `holdRequests` contains the text. */
    isHolding: (text: string) => Buffer.concat(held).includes(text),
    close,
  };
}
