// Real servers for the tests of the sender: HTTP, TLS and bare sockets, all on loopback and all closed by `closeAll`.
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createSocketServer, type Server, type Socket } from 'node:net';
import { createServer as createHandshakeServer, type TlsOptions } from 'node:tls';
import { certificateOf } from '../support/servers/certificates.ts';

const DAY_MS = 86_400_000;
const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = pair.privateKey.export({ format: 'pem', type: 'pkcs8' });
/** Of receiver.test, signed with its own key. */
export const cert = certificateOf(pair, 'receiver.test', { fromMs: Date.now() - DAY_MS, toMs: Date.now() + DAY_MS });

const running: { server: Server; sockets: Set<Socket> }[] = [];

async function listen(server: Server, host: string): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  running.push({ server, sockets });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Starts an HTTP server; returns its port. */
export const httpServer = (listener: RequestListener, host = '127.0.0.1'): Promise<number> =>
  listen(createServer(listener), host);

/** Starts an HTTPS server with the self-signed certificate for receiver.test; returns its port. */
export const tlsServer = (listener: RequestListener): Promise<number> =>
  listen(createTlsServer({ cert, key }, listener), '127.0.0.1');

/** Starts a server that counts TLS handshakes; returns its port, and how each of them ended: `made`, or a code. */
export async function handshakeServer(options: TlsOptions): Promise<{ port: number; handshakes: string[] }> {
  const handshakes: string[] = [];
  const server = createHandshakeServer(options, (socket) => {
    handshakes.push('made');
    socket.on('error', () => undefined).destroy();
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException) => handshakes.push(error.code ?? error.message));
  return { port: await listen(server, '127.0.0.1'), handshakes };
}

/** Starts a server of bare connections; returns its port. */
export const socketServer = (listener: (socket: Socket) => void, host = '127.0.0.1'): Promise<number> =>
  listen(createSocketServer(listener), host);

/** Ends every server and connection. */
export async function closeAll(): Promise<void> {
  for (const { server, sockets } of running.splice(0)) {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}
