// Servers of tests on free ports of loopback.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface Listening {
  port: number;
  /** `http://127.0.0.1:port`. */
  url: string;
  /** Breaks every connection, too. */
  close(): Promise<void>;
}

/** Starts a server of any protocol over TCP. */
export async function listen(server: Server, host = '127.0.0.1', ownPort = 0): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await once(server.listen(ownPort, host), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Starts an HTTP server that answers requests when they are complete, and no others. */
export const listenHttp = (
  answer: (request: IncomingMessage, response: ServerResponse, body: Buffer) => unknown,
): Promise<Listening> =>
  listen(
    createServer((request, response) => {
      void buffer(request).then(
        (body) => answer(request, response, body),
        () => undefined,
      );
    }),
  );
