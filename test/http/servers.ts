// Real servers for the tests of the sender: HTTP, TLS and bare sockets, all on loopback and all closed by `closeAll`.
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createSocketServer, type Server, type Socket } from 'node:net';
import tls from 'node:tls';
import { selfSigned } from '../support/servers/certificates.ts';
import { type Listening, listen } from '../support/servers/listen.ts';

const pair = selfSigned('receiver.test');

const running: Listening[] = [];

async function portOf(server: Server, host?: string): Promise<number> {
  // Clients that break off are part of the tests.
  server.on('connection', (socket: Socket) => socket.on('error', () => undefined));
  const listening = await listen(server, host);
  running.push(listening);
  return listening.port;
}

/** Starts an HTTP server; returns its port. */
export const httpServer = (listener: RequestListener, host?: string): Promise<number> =>
  portOf(createServer(listener), host);

/** Starts an HTTPS server with a certificate for receiver.test, signed with its own key; returns its port. */
export const tlsServer = (listener: RequestListener): Promise<number> => portOf(createTlsServer(pair, listener));

/** Trusts the certificate of `tlsServer` meanwhile. */
export async function trustingTlsServer(work: () => Promise<void>): Promise<void> {
  const before = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...before, pair.cert]);
  try {
    await work();
  } finally {
    tls.setDefaultCACertificates(before);
  }
}

/** Starts a server that counts TLS handshakes; returns its port, and how each of them ended: `made`, or a code. */
export async function handshakeServer(options: tls.TlsOptions): Promise<{ port: number; handshakes: string[] }> {
  const handshakes: string[] = [];
  const server = tls.createServer(options, (socket) => {
    handshakes.push('made');
    socket.on('error', () => undefined).destroy();
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException) => handshakes.push(error.code ?? error.message));
  return { port: await portOf(server), handshakes };
}

/** Starts a server of bare connections; returns its port. */
export const socketServer = (listener: (socket: Socket) => void, host?: string): Promise<number> =>
  portOf(createSocketServer(listener), host);

/** Ends every server and connection. */
export async function closeAll(): Promise<void> {
  await Promise.all(running.splice(0).map((listening) => listening.close()));
}
